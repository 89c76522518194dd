/** Loaded before the bot's program: tells the process that started it what its memory holds, after collecting garbage. */
import { setImmediate as others } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';

process.on('message', (question) => void answer(question));
// Being asked is no reason to live.
process.channel?.unref();

async function answer(question: unknown): Promise<void> {
  if (!globalThis.gc) throw new TypeError('Run this with --expose-gc');
  // What a first collection finalises, a second one frees.
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc();
    await others();
  }
  if (typeof question === 'string' && question !== 'memory') writeHeapSnapshot(question);
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, heapTotal, external, resources: process.getActiveResourcesInfo().length });
}
