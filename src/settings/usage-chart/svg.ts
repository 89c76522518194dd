/** Bars by day, a colour for each family, as SVG text. */
import { dayOf } from '../../core/clock.ts';
import type { DayUsage } from '../../core/moderation.ts';

export type ChartRow = Pick<DayUsage, 'day' | 'family' | 'requests'>;

export interface ChartOptions {
  readonly title: string;
  /** The last day shown, as `2026-01-31`. */
  readonly lastDay: string;
  readonly days: number;
}

export const CHART_WIDTH = 900;
const HEIGHT = 420;
const LEFT = 60;
const RIGHT = 876;
const TOP = 56;
const BOTTOM = 348;
const DAY = 24 * 3_600_000;
const MOST_LINES = 7;
/** Wider than a date, so that dates do not touch. */
const DATE_WIDTH = 48;
const LETTER_WIDTH = 7;
/** Distinguishable with all common types of colour blindness. https://jfly.uni-koeln.de/color/ */
const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00'];

/** Rows differ in day or family. Days without usage are shown too. */
export function usageChartSvg(
  rows: readonly ChartRow[],
  { title, lastDay, days: count }: ChartOptions,
): string {
  const end = Date.parse(lastDay);
  const days = Array.from({ length: count }, (_, index) => dayOf(end - (count - 1 - index) * DAY));
  const families = [...new Set(rows.map(({ family }) => family))].sort();
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const stacks = days.map((day) => families.map((family) => requestsOf(byDay.get(day) ?? [], family)));
  const step = lineStep(Math.max(1, ...stacks.map(sum)));
  const lines = Math.max(1, Math.ceil(Math.max(...stacks.map(sum)) / step));
  const heightOf = (requests: number) => (requests / (lines * step)) * (BOTTOM - TOP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CHART_WIDTH}" height="${HEIGHT}">`,
    `<rect width="${CHART_WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(title, CHART_WIDTH / 2, 32, 'font-size="18" font-weight="bold" fill="#222222"'),
    text('requests', LEFT, 40),
    ...Array.from({ length: lines + 1 }, (_, index) => scaleLine(index * step, heightOf(index * step))),
    ...stacks.map((stack, index) => bar(stack, barAt(index, count), heightOf)),
    `<path d="M${LEFT} ${BOTTOM}.5H${RIGHT}" stroke="#54555a"/>`,
    ...dates(days),
    ...legend(families),
    '</svg>',
  ].join('\n');
}

function requestsOf(rows: readonly ChartRow[], family: string): number {
  return sum(rows.filter((row) => row.family === family).map(({ requests }) => requests));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** The smallest of 1, 2, 5, 10, 20 … that divides `most` into few lines. */
function lineStep(most: number): number {
  for (let power = 1; ; power *= 10) {
    for (const step of [power, 2 * power, 5 * power]) if (most / step <= MOST_LINES) return step;
  }
}

function scaleLine(requests: number, height: number): string {
  const y = Math.round(BOTTOM - height);
  const label = text(requests.toLocaleString('en'), LEFT - 8, y + 4, 'text-anchor="end"');
  return `<path d="M${LEFT} ${y}.5H${RIGHT}" stroke="#dbdee4"/>${label}`;
}

interface BarPosition {
  readonly x: number;
  readonly width: number;
}

function barAt(index: number, count: number): BarPosition {
  const band = (RIGHT - LEFT) / count;
  const width = band * 0.7;
  return { x: LEFT + band * index + (band - width) / 2, width };
}

function bar(
  stack: readonly number[],
  { x, width }: BarPosition,
  heightOf: (requests: number) => number,
): string {
  let y = BOTTOM;
  return stack
    .map((requests, family) => {
      const height = heightOf(requests);
      y -= height;
      return height === 0 ? '' : rectangle(x, y, width, height, colourOf(family));
    })
    .join('');
}

/** Labels every day, or as many as fit. */
function dates(days: readonly string[]): string[] {
  const band = (RIGHT - LEFT) / days.length;
  const every = Math.ceil(DATE_WIDTH / band);
  return days.flatMap((day, index) =>
    index % every === 0 ? [text(day.slice(5), LEFT + band * (index + 0.5), BOTTOM + 18)] : [],
  );
}

function legend(families: readonly string[]): string[] {
  const widths = families.map((name) => 36 + name.length * LETTER_WIDTH + 12);
  let x = (CHART_WIDTH - sum(widths)) / 2;
  return families.map((name, family) => {
    const box = rectangle(x, 393, 25, 14, colourOf(family), 'rx="3"');
    const label = text(name, x + 31, 404, 'text-anchor="start"');
    x += widths[family] ?? 0;
    return box + label;
  });
}

function colourOf(family: number): string {
  return COLOURS[family % COLOURS.length] ?? '#000000';
}

function rectangle(x: number, y: number, width: number, height: number, fill: string, more = ''): string {
  const [left, top, wide, high] = [x, y, width, height].map((value) => Number(value.toFixed(1)));
  return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" fill="${fill}" ${more}/>`;
}

/** SVG does not allow repeated attributes, so `more` replaces the defaults. */
function text(words: string, x: number, y: number, more = ''): string {
  const anchor = more.includes('text-anchor') ? '' : 'text-anchor="middle" ';
  const size = more.includes('font-size') ? '' : 'font-size="12" fill="#54555a" ';
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${Number(x.toFixed(1))}" y="${y}" ${anchor}${size}${more}>${escaped}</text>`;
}
