/** The thread that {@link usageChart} starts for one chart. */
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { Resvg } from '@resvg/resvg-js';
import { CHART_WIDTH, type ChartOptions, type ChartRow, usageChartSvg } from './svg.ts';

const FONTS = ['400Regular/Oxygen_400Regular.ttf', '700Bold/Oxygen_700Bold.ttf'];

// The cast is safe, because usageChart passes this data.
const { rows, ...options } = workerData as ChartOptions & { rows: readonly ChartRow[] };

const image = new Resvg(usageChartSvg(rows, options), {
  fitTo: { mode: 'width', value: CHART_WIDTH * 2 },
  font: {
    // Uses the same font on every machine, including those without fonts.
    loadSystemFonts: false,
    fontFiles: FONTS.map((name) => fileURLToPath(import.meta.resolve(`@expo-google-fonts/oxygen/${name}`))),
    defaultFontFamily: 'Oxygen',
  },
}).render();

parentPort?.postMessage(image.asPng());
