/** Audio, videos, images and files below a message. */
import { html, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserMedia } from '../../../core/web/browser-chat.ts' */

/** @param {{ media?: readonly BrowserMedia[] }} props */
export function MediaList({ media = [] }) {
  const covers = media.filter(({ kind, cover }) => kind === 'image' && cover);
  const otherMedia = media.filter((item) => !covers.includes(item));
  if (media.length === 0) return null;
  return html`<div class="media">
    ${covers.map((item) => html`<${ImageItem} key=${item.name} item=${item} />`)}
    <div class="media-items">${otherMedia.map((item) => html`<${Item} key=${item.name} item=${item} />`)}</div>
  </div>`;
}

/** @param {{ item: BrowserMedia }} props */
function Item({ item }) {
  // This page does not load anything from other servers, so it only links to remote media.
  const isStored = item.bytes !== undefined;
  if (isStored && item.kind === 'audio') return html`<${AudioItem} item=${item} />`;
  if (isStored && item.kind === 'video')
    return html`<figure class="film">
      <video controls preload="metadata" src=${item.url} aria-label=${item.alt ?? item.name}></video>
      <${Caption} item=${item} />
    </figure>`;
  if (isStored && item.kind === 'image') return html`<${ImageItem} item=${item} />`;
  return html`<a class="file" href=${item.url} target="_blank" rel="noopener noreferrer">
    <span class="file-sign" aria-hidden="true"><${Icon} name=${item.kind === 'audio' ? 'note' : 'save'} /></span>
    <span class="file-name" dir="auto">${item.name}</span>
    <span class="small">${[item.caption, size(item.bytes)].filter(Boolean).join(' · ')}</span>
  </a>`;
}

/** @param {{ item: BrowserMedia }} props */
function ImageItem({ item }) {
  const { url, alt, name, cover, bytes } = item;
  if (bytes === undefined) return cover ? null : html`<${Item} item=${{ ...item, kind: 'file' }} />`;
  return html`<figure class=${cover ? 'cover' : 'picture'}>
    <a href=${url} target="_blank" rel="noopener noreferrer" aria-label=${`Open ${name}`}>
      <img src=${url} alt=${alt ?? name} loading="lazy" decoding="async" />
    </a>
    ${cover ? null : html`<${Caption} item=${item} />`}
  </figure>`;
}

/** @param {{ item: BrowserMedia }} props */
function Caption({ item: { caption, name, url } }) {
  return html`<figcaption class="small">
    <span dir="auto">${caption ?? name}</span>
    <a href=${url} download=${name}>Download</a>
  </figcaption>`;
}

/** @param {{ item: BrowserMedia }} props */
function AudioItem({ item }) {
  const { url, name, caption } = item;
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return html`<p class="small" role="status">${name} is no longer available.</p>`;
  return html`<figure class="sound">
    <audio
      controls
      preload="none"
      src=${url}
      aria-label=${caption ? `${name} · ${caption}` : name}
      onPlay=${pauseOthers}
      onError=${() => setBroken(true)}
    ></audio>
    <${Caption} item=${item} />
  </figure>`;
}

/** @param {Event} event */
function pauseOthers({ currentTarget }) {
  for (const other of document.querySelectorAll('audio, video'))
    if (other !== currentTarget && other instanceof HTMLMediaElement) other.pause();
}

/** Formats seconds as `1:02`. @param {number} seconds */
export function clock(seconds) {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds)) : 0;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** @param {number | undefined} bytes */
export function size(bytes) {
  if (bytes === undefined) return '';
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
