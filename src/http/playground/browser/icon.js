/** Inline SVG icons. Font symbols look different on every system, or are missing. */
import { html } from 'htm/preact/standalone';

/** @import { Icon as ButtonIcon } from '../../../core/message.ts' */

/** Strokes of width 1.75 in a box of 24. No button here opens a thread. @satisfies {Record<string, string> & Record<Exclude<ButtonIcon, 'thread'>, string>} */
const PATHS = {
  add: 'M12 5v14M5 12h14',
  again: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  cancel: 'M6 6l12 12M18 6L6 18',
  change: 'M4 20l1-4L16.5 4.5l3 3L8 19zM14 7l3 3',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  chevron: 'M6 9l6 6 6-6',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  cover: 'M4 5h16v14H4zM4 16l5-5 4 4 3-2.5 4 3.5M15.5 9h.01',
  down: 'M12 5v14M6 13l6 6 6-6',
  extend: 'M4 12h14M13 7l5 5-5 5M21 5v14',
  karaoke: 'M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3.5M9 20.5h6',
  list: 'M4 7h16M4 12h16M4 17h16',
  listen: 'M4 15v-3a8 8 0 0 1 16 0v3M4 14h4v6H5a1 1 0 0 1-1-1zM20 14h-4v6h3a1 1 0 0 0 1-1z',
  lyrics: 'M5 6h14M5 11h14M5 16h8',
  note: 'M9 18V6l10-2v11.5M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 15.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  page: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3.5 12h17M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  reply: 'M9 6l-5 5 5 5M4 11h9c4 0 7 3 7 7',
  reset: 'M4 11a8 8 0 1 1 2.3 6.3M4 5v6h6',
  save: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  send: 'M12 19V5M6 11l6-6 6 6',
  show: 'M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  stems: 'M6 4v9M6 17v3M12 4v3M12 11v9M18 4v10M18 18v2M4 15h4M10 9h4M16 16h4',
  talk: 'M4 5h16v11h-8l-5 4v-4H4z',
  video: 'M4 6h11v12H4zM15 10l5-3v10l-5-3z',
  voice:
    'M9 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3 20v-1a6 6 0 0 1 12 0v1M17 6a5 5 0 0 1 0 5M19.5 3.5a9 9 0 0 1 0 10',
  wav: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4',
  more: 'M5 10.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2zM12 10.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2zM19 10.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2z',
  play: 'M8 5.2v13.6a.8.8 0 0 0 1.23.67l10.4-6.8a.8.8 0 0 0 0-1.34L9.23 4.53A.8.8 0 0 0 8 5.2z',
  pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
};

/** These shapes are filled. @type {ReadonlySet<string>} */
const FILLED = new Set(['more', 'pause', 'play']);

/** @typedef {keyof typeof PATHS} IconName */

/** @param {{ name: IconName }} props */
export const Icon = ({ name }) =>
  html`<svg class=${FILLED.has(name) ? 'shape' : ''} viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
