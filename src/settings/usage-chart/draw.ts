/** A picture of what was used: bars by day, a colour for each family. */
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { BarChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { DayUsage } from '../../core/moderation.ts';

export type ChartRow = Pick<DayUsage, 'day' | 'family' | 'requests'>;

export interface ChartOptions {
  /** Plain; letters of Latin, Greek and Cyrillic scripts. */
  readonly title: string;
  /** The last day shown, as `2026-01-31`. */
  readonly lastDay: string;
  readonly days: number;
}

const WIDTH = 900;
const HEIGHT = 420;
const DAY = 24 * 3_600_000;
/** Told apart with every common colour blindness. https://jfly.uni-koeln.de/color/ */
const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00'];
const FONT = 'DejaVu Sans';
const FONT_FILES = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) => `dejavu-fonts-ttf/ttf/${name}`);

/** A PNG of rows that differ in day or family. Days without usage are shown too. */
export function drawUsageChart(rows: readonly ChartRow[], options: ChartOptions): Uint8Array {
  const image = new Resvg(usageChartSvg(rows, options), {
    fitTo: { mode: 'width', value: WIDTH * 2 },
    font: {
      // The same letters on every machine, also on one without any.
      loadSystemFonts: false,
      fontFiles: FONT_FILES.map((name) => fileURLToPath(import.meta.resolve(name))),
      defaultFontFamily: FONT,
    },
  }).render();
  return image.asPng();
}

/** The same as SVG text. */
export function usageChartSvg(rows: readonly ChartRow[], options: ChartOptions): string {
  use([BarChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);
  const end = Date.parse(options.lastDay);
  const days = Array.from({ length: options.days }, (_, index) =>
    new Date(end - (options.days - 1 - index) * DAY).toISOString().slice(0, 10),
  );
  const families = [...new Set(rows.map(({ family }) => family))].sort();
  const requests = new Map(rows.map((row) => [`${row.day} ${row.family}`, row.requests]));
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      color: COLOURS,
      textStyle: { fontFamily: FONT },
      title: { text: options.title, left: 'center', top: 12, textStyle: { fontSize: 18, color: '#222222' } },
      legend: { bottom: 8, data: families },
      grid: { left: 60, right: 24, top: 56, bottom: 72 },
      xAxis: { type: 'category', data: days.map((day) => day.slice(5)) },
      yAxis: { type: 'value', minInterval: 1, name: 'requests' },
      series: families.map((family) => ({
        type: 'bar' as const,
        name: family,
        stack: 'requests',
        data: days.map((day) => requests.get(`${day} ${family}`) ?? 0),
      })),
    });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}
