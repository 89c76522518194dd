/** Sound, films, pictures and files under a message. */
import { html, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserMedia } from '../../../core/web/browser-chat.ts' */

/** @param {{ media?: readonly BrowserMedia[] }} props */
export function MediaList({ media = [] }) {
  const covers = media.filter(({ kind, cover }) => kind === 'image' && cover);
  const others = media.filter((item) => !covers.includes(item));
  if (media.length === 0) return null;
  return html`<div class="media">
    ${covers.map((item) => html`<${Picture} key=${item.name} item=${item} />`)}
    <div class="media-items">${others.map((item) => html`<${Item} key=${item.name} item=${item} />`)}</div>
  </div>`;
}

/** @param {{ item: BrowserMedia }} props */
function Item({ item }) {
  // This page loads nothing from other servers, so it only links to remote media.
  const isKept = item.bytes !== undefined;
  if (isKept && item.kind === 'audio') return html`<${Sound} item=${item} />`;
  if (isKept && item.kind === 'video')
    return html`<figure class="film">
      <video controls preload="metadata" src=${item.url} aria-label=${item.alt ?? item.name}></video>
      <${Caption} item=${item} />
    </figure>`;
  if (isKept && item.kind === 'image') return html`<${Picture} item=${item} />`;
  return html`<a class="file" href=${item.url} target="_blank" rel="noopener noreferrer">
    <span class="file-sign" aria-hidden="true"><${Icon} name=${item.kind === 'audio' ? 'note' : 'save'} /></span>
    <span class="file-name" dir="auto">${item.name}</span>
    <span class="small">${[item.caption, size(item.bytes)].filter(Boolean).join(' · ')}</span>
  </a>`;
}

/** @param {{ item: BrowserMedia }} props */
function Picture({ item }) {
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
function Sound({ item }) {
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

/** `1:02` for 62 seconds. @param {number} seconds */
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
