import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { usageChartSvg } from '../../../src/settings/usage-chart/draw.ts';
import { usageChart } from '../../../src/settings/usage-chart/usage-chart.ts';

const rows = [
  { day: '2026-03-09', family: 'song', requests: 4 },
  { day: '2026-03-10', family: 'song', requests: 2 },
  { day: '2026-03-10', family: 'ask', requests: 9 },
];
const options = { title: 'Used in the last 7 days', lastDay: '2026-03-10', days: 7 };

test('shows every day, also those on which nothing happened, and every family', () => {
  const svg = usageChartSvg(rows, options);
  for (const day of ['03-04', '03-05', '03-06', '03-07', '03-08', '03-09', '03-10'])
    expect(svg).toContain(`>${day}<`);
  expect(svg).toContain('>song<');
  expect(svg).toContain('>ask<');
  expect(svg).toContain('Used in the last 7 days');
});

test('text from outside is no markup', () => {
  const svg = usageChartSvg([{ day: '2026-03-10', family: '<script>', requests: 1 }], options);
  expect(svg).not.toContain('<script>');
});

test('is a picture with the bars and letters in it, drawn by a thread of its own', async () => {
  const { width, height, data } = PNG.sync.read(Buffer.from(await usageChart(rows, options)));
  expect([width, height]).toEqual([1800, 840]);
  const colours = new Set<string>();
  for (let at = 0; at < data.length; at += 4) colours.add(data.subarray(at, at + 3).toString('hex'));
  expect(colours).toContain('0072b2');
  expect(colours).toContain('e69f00');
  // Letters have edges in many shades of grey; without a font there would be none.
  expect(colours.size).toBeGreaterThan(40);
});
