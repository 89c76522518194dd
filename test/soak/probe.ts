/** Loaded before the bot's program: reports memory use after garbage collection to the parent process. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';

process.on('message', (question) => void answer(question));
// The channel must not keep the process alive.
process.channel?.unref();

async function answer(question: unknown): Promise<void> {
  if (!globalThis.gc) throw new TypeError('Run this with --expose-gc');
  // The first collection finalises objects, the second one frees them.
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc();
    await yieldToOthers();
  }
  if (typeof question === 'string' && question !== 'memory') writeHeapSnapshot(question);
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, heapTotal, external, resources: process.getActiveResourcesInfo().length });
}
