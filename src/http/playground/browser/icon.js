/** Inline SVG icons. Font symbols look different on every system, or are missing. */
import { html } from 'htm/preact/standalone';

const PATHS = {
  add: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  close: 'M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z',
  down: 'M11 5h2v10.2l4.3-4.3 1.4 1.4L12 19l-6.7-6.7 1.4-1.4 4.3 4.3z',
  list: 'M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z',
  more: 'M4 10.5h3v3H4zM10.5 10.5h3v3h-3zM17 10.5h3v3h-3z',
  note: 'M9 4l11-2v13.5a3.5 3.5 0 1 1-2-3.2V7L11 8.3v9.2a3.5 3.5 0 1 1-2-3.2z',
  picture:
    'M4 4h16v16H4zM6 6v8.600l3.500-3.600 3 3 2.500-2.500 3 3V6zM15 7.500a1.500 1.500 0 1 1 0 3 1.500 1.500 0 0 1 0-3z',
  reply: 'M10 5v4c7 1 10 6 11 11-2.500-3.500-6-5.100-11-5.100V19l-7-7z',
  save: 'M11 4h2v8.200l3.300-3.300 1.400 1.400L12 16l-5.700-5.700 1.400-1.400L11 12.200zM5 18h14v2H5z',
  send: 'M4 20l17-8L4 4v6l10 2-10 2z',
  talk: 'M4 4h16v12h-8l-5 4v-4H4zM7 8v1.500h10V8zM7 11v1.500h7V11z',
};

/** @param {{ name: keyof typeof PATHS }} props */
export const Icon = ({ name }) =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true"><path fill-rule="evenodd" d=${PATHS[name]} /></svg>`;
