/** Icons of the pages' buttons, in a box of 24. */
import { MARK_PATH } from '../../core/brand.ts';
import { type Html, html } from '../../core/web/html.ts';

const PATHS = {
  chevron: 'M6 9.5l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
  download: 'M12 4v11M7.5 10.5L12 15l4.5-4.5M5 19.5h14',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1.2 1.2M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2',
  microphone: 'M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3.5M9 20.5h6',
  mixer: 'M6 4v6M6 15v5M12 4v3M12 12v8M18 4v8M18 17v3M3.5 12.5h5M9.5 9.5h5M15.5 14.5h5',
  next: 'M6 5.5v13l9.5-6.5zM18 5.5v13',
  previous: 'M18 5.5v13l-9.5-6.5zM6 5.5v13',
  share: 'M12 15V4M8 7.5L12 3.5l4 4M6 11.5v8h12v-8',
} as const;

export const icon = (name: keyof typeof PATHS): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${PATHS[name]}"/></svg>`;

/** For buttons that play and pause. Their class `playing` decides which symbol is visible. */
export const PLAY_ICON: Html = html`<svg class="solid" viewBox="0 0 24 24" aria-hidden="true"><use class="when-paused" href="#play"/><use class="when-playing" href="#pause"/></svg>`;

/** The symbols of `PLAY_ICON`, once per page. */
export const PLAY_SYMBOLS: Html = html`<svg hidden><symbol id="play" viewBox="0 0 24 24"><path d="M8.5 5.2c-.6-.4-1.5 0-1.5.8v12c0 .8.9 1.2 1.5.8l9.3-6c.6-.4.6-1.2 0-1.6z"/></symbol><symbol id="pause" viewBox="0 0 24 24"><path d="M7 5h3.5v14H7zM13.5 5H17v14h-3.5z"/></symbol></svg>`;

/** In place of a cover. */
export const NO_COVER: Html = html`<span class="no-cover" aria-hidden="true"><svg viewBox="0 0 32 32"><path d="${MARK_PATH}"/></svg></span>`;
