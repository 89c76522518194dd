/** Draws a usage chart in a separate thread, because it takes a second and a lot of memory. */
import { z } from 'zod';
import { runInThread } from '../../core/util/thread.ts';
import type { ChartOptions, ChartRow } from './svg.ts';

const TIMEOUT_MS = 20_000;

/** Returns a PNG. Throws the thread's errors, and on a timeout. */
export async function usageChart(rows: readonly ChartRow[], options: ChartOptions): Promise<Uint8Array> {
  const module = new URL('./worker.ts', import.meta.url);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return z.instanceof(Uint8Array).parse(await runInThread(module, { ...options, rows }, { signal }));
}
