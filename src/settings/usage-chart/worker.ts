/** The thread that {@link usageChart} starts for one picture. */
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { Resvg } from '@resvg/resvg-js';
import { z } from 'zod';
import { CHART_WIDTH, usageChartSvg } from './svg.ts';

const FONTS = ['400Regular/Oxygen_400Regular.ttf', '700Bold/Oxygen_700Bold.ttf'];

const { rows, ...options } = z
  .object({
    rows: z.array(z.object({ day: z.string(), family: z.string(), requests: z.number() })),
    title: z.string(),
    lastDay: z.string(),
    days: z.number(),
  })
  .parse(workerData);

const image = new Resvg(usageChartSvg(rows, options), {
  fitTo: { mode: 'width', value: CHART_WIDTH * 2 },
  font: {
    // The same letters on every machine, also on one without any.
    loadSystemFonts: false,
    fontFiles: FONTS.map((name) => fileURLToPath(import.meta.resolve(`@expo-google-fonts/oxygen/${name}`))),
    defaultFontFamily: 'Oxygen',
  },
}).render();

parentPort?.postMessage(image.asPng());
