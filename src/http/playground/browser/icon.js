/** Inline SVG icons. Font symbols look different on every system, or are missing. */
import { html } from 'htm/preact/standalone';

/** Strokes of width 1.75 in a box of 24. */
const STROKES = {
  add: 'M12 5v14M5 12h14',
  again: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  cancel: 'M6 6l12 12M18 6L6 18',
  change: 'M4 20l1-4L16.500 4.500l3 3L8 19zM14 7l3 3',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  chevron: 'M6 9l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
  code: 'M8 8l-4 4 4 4M16 8l4 4-4 4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  cover: 'M4 5h16v14H4zM4 16l5-5 4 4 3-2.500 4 3.500M15.500 9h.01',
  down: 'M12 5v14M6 13l6 6 6-6',
  extend: 'M4 12h14M13 7l5 5-5 5M21 5v14',
  karaoke: 'M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3.500M9 20.500h6',
  list: 'M4 7h16M4 12h16M4 17h16',
  listen: 'M4 15v-3a8 8 0 0 1 16 0v3M4 14h4v6H5a1 1 0 0 1-1-1zM20 14h-4v6h3a1 1 0 0 0 1-1z',
  lyrics: 'M5 6h14M5 11h14M5 16h8',
  note: 'M9 18V6l10-2v11.500M9 18a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM19 15.500a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0z',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  page: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3.500 12h17M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-2.500 4 3.500M15.500 9h.01',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  reply: 'M9 6l-5 5 5 5M4 11h9c4 0 7 3 7 7',
  reset: 'M4 11a8 8 0 1 1 2.300 6.300M4 5v6h6',
  save: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  send: 'M12 19V5M6 11l6-6 6 6',
  show: 'M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM12 9.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z',
  stems: 'M6 4v9M6 17v3M12 4v3M12 11v9M18 4v10M18 18v2M4 15h4M10 9h4M16 16h4',
  talk: 'M4 5h16v11h-8l-5 4v-4H4z',
  video: 'M4 6h11v12H4zM15 10l5-3v10l-5-3z',
  voice:
    'M9 4.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM3 20v-1a6 6 0 0 1 12 0v1M17 6a5 5 0 0 1 0 5M19.500 3.500a9 9 0 0 1 0 10',
  wav: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4',
};

/** Filled shapes. */
const SHAPES = {
  more: 'M5 10.4a1.6 1.6 0 1 1 0 3.200 1.600 1.600 0 0 1 0-3.200zM12 10.400a1.600 1.600 0 1 1 0 3.200 1.600 1.600 0 0 1 0-3.200zM19 10.400a1.600 1.600 0 1 1 0 3.200 1.600 1.600 0 0 1 0-3.200z',
  play: 'M8 5.200v13.600a.8.8 0 0 0 1.230.670l10.400-6.800a.8.8 0 0 0 0-1.340L9.230 4.530A.8.8 0 0 0 8 5.200z',
  pause: 'M7 5h3.500v14H7zM13.500 5H17v14h-3.500z',
};

/** @typedef {keyof typeof STROKES | keyof typeof SHAPES} IconName */

/** @param {{ name: IconName }} props */
export const Icon = ({ name }) =>
  name in SHAPES
    ? html`<svg class="shape" viewBox="0 0 24 24" aria-hidden="true"><path d=${SHAPES[/** @type {keyof typeof SHAPES} */ (name)]} /></svg>`
    : html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${STROKES[/** @type {keyof typeof STROKES} */ (name)]} /></svg>`;
