/** A picture of what was used. */
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { CHART_WIDTH, type ChartOptions, type ChartRow, usageChartSvg } from './svg.ts';

const FONTS = ['400Regular/Oxygen_400Regular.ttf', '700Bold/Oxygen_700Bold.ttf'];

/** A PNG of rows that differ in day or family. Days without usage are shown too. */
export function drawUsageChart(rows: readonly ChartRow[], options: ChartOptions): Uint8Array {
  const image = new Resvg(usageChartSvg(rows, options), {
    fitTo: { mode: 'width', value: CHART_WIDTH * 2 },
    font: {
      // The same letters on every machine, also on one without any.
      loadSystemFonts: false,
      fontFiles: FONTS.map((name) => fileURLToPath(import.meta.resolve(`@expo-google-fonts/oxygen/${name}`))),
      defaultFontFamily: 'Oxygen',
    },
  }).render();
  return image.asPng();
}
