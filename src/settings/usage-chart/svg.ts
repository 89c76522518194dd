/** Bars by day, a colour for each family, as SVG text. */
import { COLOURS } from '../../core/brand.ts';
import { familyTitle } from '../../core/models/family.ts';
import type { DayUsage } from '../../core/moderation.ts';
import { dayOf } from '../../core/util/clock.ts';
import { shortDay } from '../../core/util/words.ts';

export type ChartRow = Pick<DayUsage, 'day' | 'family' | 'requests'>;

export interface ChartOptions {
  readonly title: string;
  /** The last day shown, as `2026-01-31`. */
  readonly lastDay: string;
  readonly days: number;
}

/** Small, so that its texts stay readable in an embed, which is 400 pixels wide. */
export const CHART_WIDTH = 600;
const HEIGHT = 360;
const LEFT = 52;
const RIGHT = 580;
const TOP = 56;
const BOTTOM = 286;
const DAY = 24 * 3_600_000;
const MOST_LINES = 5;
const WIDEST_BAR = 48;
/** Wider than a date, so that dates do not touch. */
const DATE_WIDTH = 56;
const LETTER_WIDTH = 8;
/** On the dark surface of the brand, because one picture serves light and dark chats. */
const [, SURFACE] = COLOURS.surface;
const [, TEXT] = COLOURS.text;
const [, MUTED] = COLOURS.muted;
const [, LINE] = COLOURS.line;
/** The brand's accent, then Okabe and Ito's colours for colour blindness, lightened. https://jfly.uni-koeln.de/color/ */
const SERIES = ['#b8a9ff', '#e69f00', '#2cc5a0', '#56b4e9', '#f0e442', '#ff8a65'];

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
    `<rect width="${CHART_WIDTH}" height="${HEIGHT}" fill="${SURFACE}"/>`,
    text(title, 20, 34, `text-anchor="start" font-size="18" font-weight="bold" fill="${TEXT}"`),
    ...Array.from({ length: lines + 1 }, (_, index) => scaleLine(index * step, heightOf(index * step))),
    ...stacks.map((stack, index) => bar(stack, barAt(index, count), heightOf)),
    `<path d="M${LEFT} ${BOTTOM}.5H${RIGHT}" stroke="${MUTED}"/>`,
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
  return `<path d="M${LEFT} ${y}.5H${RIGHT}" stroke="${LINE}"/>${label}`;
}

interface BarPosition {
  readonly x: number;
  readonly width: number;
}

function barAt(index: number, count: number): BarPosition {
  const band = (RIGHT - LEFT) / count;
  const width = Math.min(band * 0.7, WIDEST_BAR);
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
      return height === 0 ? '' : rectangle(x, y, width, height, colourOf(family), 'rx="2"');
    })
    .join('');
}

/** Labels every day, or as many as fit. */
function dates(days: readonly string[]): string[] {
  const band = (RIGHT - LEFT) / days.length;
  const every = Math.ceil(DATE_WIDTH / band);
  return days.flatMap((day, index) =>
    index % every === 0 ? [text(shortDay(Date.parse(day)), LEFT + band * (index + 0.5), BOTTOM + 22)] : [],
  );
}

function legend(families: readonly string[]): string[] {
  const titles = families.map(familyTitle);
  const widths = titles.map((title) => 22 + title.length * LETTER_WIDTH + 24);
  let x = LEFT;
  return titles.map((title, family) => {
    const box = rectangle(x, 327, 14, 14, colourOf(family), 'rx="4"');
    const label = text(title, x + 22, 339, 'text-anchor="start"');
    x += widths[family] ?? 0;
    return box + label;
  });
}

function colourOf(family: number): string {
  return SERIES[family % SERIES.length] ?? TEXT;
}

function rectangle(x: number, y: number, width: number, height: number, fill: string, more = ''): string {
  const [left, top, wide, high] = [x, y, width, height].map((value) => Number(value.toFixed(1)));
  return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" fill="${fill}" ${more}/>`;
}

/** SVG does not allow repeated attributes, so `more` replaces the defaults. */
function text(words: string, x: number, y: number, more = ''): string {
  const anchor = more.includes('text-anchor') ? '' : 'text-anchor="middle" ';
  const size = more.includes('font-size') ? '' : `font-size="14" fill="${MUTED}" `;
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${Number(x.toFixed(1))}" y="${y}" ${anchor}${size}${more}>${escaped}</text>`;
}
