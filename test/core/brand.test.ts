import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { brandStyles, COLOURS, markSvg } from '../../src/core/brand.ts';

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ['paper', 'surface', 'sunken', 'raised'] as const;

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('in the %s scheme', (_, scheme) => {
  test.each(['text', 'muted', 'accent', 'danger'] as const)('%s is readable on every background', (name) => {
    for (const ground of GROUNDS)
      expect(contrast(COLOURS[name][scheme], COLOURS[ground][scheme]), ground).toBeGreaterThanOrEqual(4.5);
  });

  test('the unplayed part of a waveform is visible on every background', () => {
    for (const ground of GROUNDS)
      expect(contrast(COLOURS.track[scheme], COLOURS[ground][scheme]), ground).toBeGreaterThanOrEqual(3);
  });

  test.each([
    ['on-fill', 'fill'],
    ['accent', 'accent-soft'],
    ['text', 'accent-soft'],
    ['danger', 'danger-soft'],
  ] as const)('%s is readable on %s', (text, ground) => {
    expect(contrast(COLOURS[text][scheme], COLOURS[ground][scheme])).toBeGreaterThanOrEqual(4.5);
  });
});

test('the style sheet defines each colour for both schemes', () => {
  const styles = brandStyles();
  for (const [name, [light, dark]] of Object.entries(COLOURS))
    expect(styles).toContain(`--${name}: light-dark(${light}, ${dark});`);
});

test("the mark in the documentation is the brand's", async () => {
  expect(await readFile('docs/pictures/mark.svg', 'utf8')).toBe(markSvg());
});
