/** Draws a chart of usage in a thread of its own: it takes a second, and more memory than everything else together. */
import { z } from 'zod';
import { answerOfThread } from '../../core/thread.ts';
import type { ChartOptions, ChartRow } from './svg.ts';

const TIMEOUT_MS = 20_000;

/** A PNG. Throws what the thread throws, and when it takes too long. */
export async function usageChart(rows: readonly ChartRow[], options: ChartOptions): Promise<Uint8Array> {
  const module = new URL('./worker.ts', import.meta.url);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return z.instanceof(Uint8Array).parse(await answerOfThread(module, { ...options, rows }, { signal }));
}
