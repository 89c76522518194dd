/** Draws a chart of usage in a thread of its own: it takes a second, and more memory than everything else together. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { threadEnvironment } from '../../core/thread-environment.ts';
import type { ChartOptions, ChartRow } from './svg.ts';

const pictureSchema = z.tuple([z.instanceof(Uint8Array)]);

/** A PNG. Throws what the thread throws, and when it takes longer than `timeoutMs`. */
export async function usageChart(
  rows: readonly ChartRow[],
  options: ChartOptions,
  { timeoutMs = 20_000 }: { timeoutMs?: number } = {},
): Promise<Uint8Array> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { ...options, rows },
    env: threadEnvironment(),
  });
  try {
    const [picture] = pictureSchema.parse(
      await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) }),
    );
    return picture;
  } finally {
    await worker.terminate();
  }
}
