/** The load of P3: asked with addresses, it tells how many callbacks a second were answered, and within how many milliseconds. */
import { createInterface } from 'node:readline';
import { Agent } from 'undici';
import { z } from 'zod';
import { songCallback } from '../jobs/world.ts';
import { median, quantile } from './measure.ts';
import { tell } from './program.ts';

/** Callbacks of one job: too few for one to displace another. */
const OF_A_JOB = 10;
/** Callbacks that are on their way at the same time. */
const AT_ONCE = 64;

const targets = z.object({ counted: z.array(z.url()), before: z.array(z.url()) });
const dispatcher = new Agent({ connections: AT_ONCE });

/** As many as each job may have. */
async function send(urls: readonly string[]): Promise<{ each: number[]; together: number }> {
  const count = urls.length * OF_A_JOB;
  const each: number[] = [];
  let sent = 0;
  const sendNext = async (): Promise<void> => {
    for (let index = sent++; index < count; index = sent++) {
      const { origin, pathname } = new URL(urls[index % urls.length] ?? '');
      const body = JSON.stringify(songCallback('complete', `task-${index}`));
      const begun = performance.now();
      const answer = await dispatcher.request({ origin, path: pathname, method: 'POST', body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`A callback was answered ${answer.statusCode}`);
      each.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  return { each, together: performance.now() - begun };
}

tell('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const { before, counted } = targets.parse(JSON.parse(line));
  // Compiled and connected before it counts.
  await send(before);
  globalThis.gc?.();
  const { each, together } = await send(counted);
  tell({ rate: (1000 * each.length) / together, p50: median(each), p99: quantile(each, 0.99) });
}
