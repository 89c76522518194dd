import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { usageChart } from '../../../src/settings/usage-chart/draw.ts';
import { usageChartSvg } from '../../../src/settings/usage-chart/svg.ts';

const rows = [
  { day: '2026-03-09', family: 'song', requests: 4 },
  { day: '2026-03-10', family: 'song', requests: 2 },
  { day: '2026-03-10', family: 'ask', requests: 9 },
];
const options = { title: 'Used in the last 7 days', lastDay: '2026-03-10', days: 7 };

test('shows every day, including those without usage, and every family', () => {
  const svg = usageChartSvg(rows, options);
  for (const day of ['4 Mar', '5 Mar', '6 Mar', '7 Mar', '8 Mar', '9 Mar', '10 Mar'])
    expect(svg).toContain(`>${day}<`);
  expect(svg).toContain('>Songs<');
  expect(svg).toContain('>Answers<');
  expect(svg).toContain('Used in the last 7 days');
});

test('stacks bars in proportion to their requests, below the highest line', () => {
  const bars = [
    ...usageChartSvg(rows, options).matchAll(
      /<rect x="([\d.]+)" y="([\d.]+)" width="\d+(?:\.\d)?" height="([\d.]+)" fill="(#\w+)" rx="2"\/>/g,
    ),
  ]
    .map(([, x, y, height, fill]) => ({ x: Number(x), y: Number(y), height: Number(height), fill }))
    .filter(({ y }) => y < 286);
  const [song, nextDayAsk, nextDaySong] = bars;
  expect(bars).toHaveLength(3);
  expect((song?.height ?? 0) / (nextDaySong?.height ?? 0)).toBeCloseTo(2, 1);
  expect((nextDayAsk?.height ?? 0) / (nextDaySong?.height ?? 0)).toBeCloseTo(4.5, 1);
  expect(nextDayAsk?.x).toBe(nextDaySong?.x);
  expect((nextDaySong?.y ?? 0) + (nextDaySong?.height ?? 0)).toBeCloseTo(nextDayAsk?.y ?? 0, 0);
  expect(Math.min(...bars.map(({ y }) => y))).toBeGreaterThanOrEqual(56);
});

test.each([
  [1, ['0', '1']],
  [5, ['0', '1', '2', '3', '4', '5']],
  [36, ['0', '10', '20', '30', '40']],
  [12_345, ['0', '5,000', '10,000', '15,000']],
])('a day of %i requests has lines at round numbers', (requests, lines) => {
  const svg = usageChartSvg([{ day: '2026-03-10', family: 'song', requests }], options);
  const scale = [
    ...svg.matchAll(/text-anchor="end">([\d,]+)</g),
    ...svg.matchAll(/text-anchor="end"[^>]*>([\d,]+)</g),
  ];
  expect([...new Set(scale.map(([, label]) => label))]).toEqual(lines);
});

test('draws an empty chart, and a chart of three months', () => {
  expect(usageChartSvg([], options)).toContain('>10 Mar<');
  const dates = usageChartSvg(rows, { ...options, days: 90 }).match(/>\d{1,2} \w{3}</g) ?? [];
  expect(dates.length).toBeGreaterThan(5);
  expect(dates.length).toBeLessThan(20);
});

test('escapes text', () => {
  const svg = usageChartSvg([{ day: '2026-03-10', family: '<script>', requests: 1 }], options);
  expect(svg).not.toContain('<script>');
});

test('draws bars and text in a separate thread', async () => {
  const { width, height, data } = PNG.sync.read(Buffer.from(await usageChart(rows, options)));
  expect([width, height]).toEqual([1200, 720]);
  const colours = new Set<string>();
  for (let at = 0; at < data.length; at += 4) colours.add(data.subarray(at, at + 3).toString('hex'));
  expect(colours).toContain('b8a9ff');
  expect(colours).toContain('e69f00');
  // Letters have edges in many shades of grey, so these show that the font was loaded.
  expect(colours.size).toBeGreaterThan(40);
});
