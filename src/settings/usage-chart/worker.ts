/** The thread that {@link usageChart} starts for one picture. */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { drawUsageChart } from './draw.ts';

const { rows, ...options } = z
  .object({
    rows: z.array(z.object({ day: z.string(), family: z.string(), requests: z.number() })),
    title: z.string(),
    lastDay: z.string(),
    days: z.number(),
  })
  .parse(workerData);

parentPort?.postMessage(drawUsageChart(rows, options));
