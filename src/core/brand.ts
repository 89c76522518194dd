/** The brand: colours, fonts, corner radii and the mark. */

type Pair = readonly [light: string, dark: string];

/** Text colours reach a contrast of 4.5 on every background here. */
export const COLOURS = {
  /** Backgrounds of the page, of cards, of insets in cards and of floating elements. */
  paper: ['#faf9fc', '#111014'],
  surface: ['#ffffff', '#1a191f'],
  sunken: ['#f2f0f6', '#0c0b0e'],
  raised: ['#ffffff', '#24222b'],
  line: ['#e5e2eb', '#2f2c37'],
  text: ['#1b1822', '#eeecf3'],
  muted: ['#645f70', '#a39eb0'],
  /** Filled controls, the same in both schemes. */
  fill: ['#6e56cf', '#6e56cf'],
  'on-fill': ['#ffffff', '#ffffff'],
  /** Links, focus rings and icons. */
  accent: ['#5b45c0', '#b8a9ff'],
  'accent-soft': ['#eeeafd', '#2a2343'],
  /** The unplayed part of a waveform or slider. Its contrast is at least 3. */
  track: ['#8b8698', '#726d81'],
  danger: ['#b3261e', '#ff9a94'],
  'danger-soft': ['#fdecec', '#43222a'],
} as const satisfies Readonly<Record<string, Pair>>;

/** For places with a single colour, such as the edge of an embed. */
export const BRAND_COLOUR = COLOURS.fill[0];
/** A dark shade for white text. */
export const BRAND_DARK = COLOURS['accent-soft'][1];

/** System fonts, and Open Sans for screenshots. */
const FONTS = {
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", sans-serif',
  mono: 'ui-monospace, "Cascadia Code", Menlo, Consolas, monospace',
} as const;

/** Buttons and fields, cards, and large covers. */
const RADII = { 'round-small': '8px', round: '12px', 'round-large': '20px' } as const;

/** Five bars of sound that form an M, as strokes of width 2.8 in a box of 32. */
export const MARK_PATH = 'M7 9v14M11.5 11.5v6.5M16 16v6M20.5 11.5v6.5M25 9v14';

/** The mark on a tile. `corner` is the radius in a box of 32: platforms crop avatars, so theirs has none. */
export function markSvg({ corner = 8 }: { readonly corner?: number } = {}): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Minstrel</title><linearGradient id="tile" x2="0" y2="1"><stop stop-color="#8470e6"/><stop offset="1" stop-color="${COLOURS.accent[0]}"/></linearGradient><rect width="32" height="32" rx="${corner}" fill="url(#tile)"/><path d="${MARK_PATH}" fill="none" stroke="#fff" stroke-width="2.8" stroke-linecap="round"/></svg>\n`;
}

/** The style sheet that defines the tokens, such as `--accent` and `--round`. */
export function brandStyles(): string {
  const colours = Object.entries(COLOURS).map(([name, [light, dark]]) => [
    name,
    `light-dark(${light}, ${dark})`,
  ]);
  const tokens = [...colours, ...Object.entries({ ...FONTS, ...RADII })];
  const lines = tokens.map(([name, value]) => `--${name}: ${value};`);
  return `:root {\n  color-scheme: light dark;\n  ${lines.join('\n  ')}\n}\n`;
}
