/** Audio, videos, images and files of a message, and placeholders for those to come. */
import { html, useRef, useState } from 'htm/preact/standalone';
import { TakeButtons } from './buttons.js';
import { Icon } from './icon.js';
import { Markdown } from './markdown.js';
import { announceStart, Player, useExclusivePlayback } from './player.js';
import { Stems } from './stems.js';

/** @import { OnPress } from './buttons.js' */
/** @import { BrowserButton, BrowserMedia, MarkdownNode } from '../../../core/web/browser-chat.ts' */
/** @import { Progress } from '../../../core/message.ts' */

/** Takes of a song, and versions of lyrics. */
const TAKES = 2;
const VERSIONS = 3;

/**
 * `title` names the recordings. `words` are shown until the first of them is there.
 * @param {{ media?: readonly BrowserMedia[], result?: Progress['result'], title?: string, words?: readonly MarkdownNode[],
 *   takes: readonly (readonly BrowserButton[])[], onPress: OnPress }} props
 */
export function MediaList({ media = [], result, title = '', words = [], takes, onPress }) {
  // This page does not load anything from other servers, so it only links to remote media.
  const stored = media.filter(({ bytes }) => bytes !== undefined);
  const isOf = (/** @type {BrowserMedia['kind']} */ kind) => stored.filter((item) => item.kind === kind);
  // Without a recording, a cover is shown like any other image.
  const cover =
    result === 'song' || isOf('audio').length > 0 ? isOf('image').find((item) => item.cover) : undefined;
  const images = isOf('image').filter((item) => item !== cover);
  const parts = isOf('audio').filter(({ part }) => part);
  const recordings = isOf('audio').filter(({ part }) => !part);
  const videos = isOf('video');
  const shown = [cover, ...images, ...parts, ...recordings, ...videos];
  const files = media.filter((item) => !shown.includes(item) && !(item.kind === 'image' && item.cover));
  const missing = result === 'song' ? Math.max(0, TAKES - recordings.length) : 0;
  if (media.length === 0 && result === undefined) return null;
  return html`
    ${
      (recordings.length > 0 || missing > 0 || cover) &&
      html`<div class="song">
        ${cover ? html`<${Cover} item=${cover} />` : result === 'song' && html`<div class="cover blank"><${Icon} name="note" /></div>`}
        <div class="takes">
          ${recordings.map((item, index) => html`<${Recording} key=${item.name} item=${item} title=${title} buttons=${takes[index] ?? []} onPress=${onPress} />`)}
          ${
            missing === TAKES && words.length > 0
              ? html`<div class="early-words" tabindex="0" role="group" aria-label="Lyrics"><${Markdown} nodes=${words} /></div>`
              : Array.from(
                  { length: missing },
                  (_, index) => html`<div class="player blank" key=${index}></div>`,
                )
          }
        </div>
      </div>`
    }
    ${parts.length > 0 && html`<${Stems} title=${title} stems=${parts} />`}
    ${parts.length === 0 && result === 'stems' && html`<div class="stems blank"></div>`}
    ${
      result === 'lyrics' &&
      html`<div class="variants">${Array.from({ length: VERSIONS }, (_, index) => html`<div class="blank" key=${index}></div>`)}</div>`
    }
    ${images.length > 0 && html`<div class="pictures">${images.map((item) => html`<${ImageItem} key=${item.name} item=${item} />`)}</div>`}
    ${images.length === 0 && result === 'image' && html`<div class="picture blank"></div>`}
    ${videos.map((item) => html`<${Video} key=${item.name} item=${item} />`)}
    ${videos.length === 0 && result === 'video' && html`<div class="film blank"></div>`}
    ${files.length > 0 && html`<div class="files">${files.map((item) => html`<${FileItem} key=${item.name} item=${item} />`)}</div>`}
  `;
}

/** @param {{ item: BrowserMedia }} props */
const Cover = ({ item: { url, alt, name } }) =>
  html`<a class="cover" href=${url} target="_blank" rel="noopener noreferrer" aria-label=${`Open ${alt ?? name}`}>
    <img src=${url} alt=${alt ?? name} decoding="async" />
  </a>`;

/**
 * The caption of a recording is a label and a length: `Take 1 · 2:31`.
 * @param {{ item: BrowserMedia, title: string, buttons: readonly BrowserButton[], onPress: OnPress }} props
 */
function Recording({ item: { url, name, caption = name }, title, buttons, onPress }) {
  const [, label = caption, minutes = '0', seconds = '0'] = /^(.*) · (\d+):(\d\d)$/.exec(caption) ?? [];
  return html`<${Player} url=${url} name=${name || title} label=${label} seconds=${60 * Number(minutes) + Number(seconds)}>
    <${TakeButtons} group=${label} buttons=${buttons} onPress=${onPress} />
  <//>`;
}

/** @param {{ item: BrowserMedia }} props */
function Video({ item }) {
  const video = useRef(/** @type {HTMLVideoElement | null} */ (null));
  useExclusivePlayback(video, () => video.current?.pause());
  return html`<figure class="film">
    <video
      ref=${video}
      controls
      preload="metadata"
      src=${item.url}
      aria-label=${item.alt ?? item.name}
      onPlay=${() => announceStart(video.current)}
    ></video>
    <${Extras} item=${item} />
  </figure>`;
}

/** Its usual height is reserved until it is loaded. @param {{ item: BrowserMedia }} props */
function ImageItem({ item }) {
  const [isLoaded, setLoaded] = useState(false);
  return html`<figure class=${isLoaded ? 'picture' : 'picture opening'}>
    <a href=${item.url} target="_blank" rel="noopener noreferrer" aria-label=${`Open ${item.alt ?? item.name}`}>
      <img
        src=${item.url}
        alt=${item.alt ?? item.name}
        decoding="async"
        onLoad=${() => setLoaded(true)}
      />
    </a>
    <${Extras} item=${item} />
  </figure>`;
}

/** @param {{ item: BrowserMedia }} props */
const Extras = ({ item: { caption, name, url } }) => html`
  <a class="download" href=${url} download=${name} aria-label=${`Download ${name}`} title="Download"><${Icon} name="save" /></a>
  ${caption && html`<figcaption class="small" dir="auto">${caption}</figcaption>`}
`;

/** @param {{ item: BrowserMedia }} props */
const FileItem = ({ item }) =>
  html`<a class="file" href=${item.url} target="_blank" rel="noopener noreferrer">
    <span class="file-sign" aria-hidden="true"><${Icon} name=${item.kind === 'audio' ? 'note' : 'save'} /></span>
    <span class="file-name" dir="auto">${item.name}</span>
    <span class="small">${[item.caption, size(item.bytes)].filter(Boolean).join(' · ')}</span>
  </a>`;

/** @param {number | undefined} bytes */
function size(bytes) {
  if (bytes === undefined) return '';
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
