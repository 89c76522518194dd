/** Sound, films, pictures and files under a message. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { Icon } from './icon.js';

/** @import { BrowserMedia } from '../../../core/browser-chat.ts' */

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
  // What is not kept here would have to be loaded from elsewhere, which this page does not do.
  const isKept = item.bytes !== undefined;
  if (isKept && item.kind === 'audio') return html`<${Player} item=${item} />`;
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
    <a href=${url} download=${name}>Save</a>
  </figcaption>`;
}

/**
 * A player of our own: those of browsers look different everywhere, and do not follow the page's colours.
 * @param {{ item: BrowserMedia }} props
 */
function Player({ item: { url, name, caption } }) {
  const audio = useRef(/** @type {HTMLAudioElement | null} */ (null));
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const isSeen = useSeen(frame);
  const [playing, setPlaying] = useState(false);
  const [time, setTime] = useState(0);
  const [length, setLength] = useState(0);
  const [isBroken, setBroken] = useState(false);

  const toggle = () => {
    const sound = audio.current;
    if (!sound) return;
    if (!sound.paused) return sound.pause();
    for (const other of document.querySelectorAll('audio, video'))
      if (other !== sound && other instanceof HTMLMediaElement) other.pause();
    sound.play().catch(() => setBroken(true));
  };
  /** @param {Event} event */
  const seek = ({ currentTarget }) => {
    if (!audio.current || !(currentTarget instanceof HTMLInputElement)) return;
    audio.current.currentTime = Number(currentTarget.value);
    setTime(Number(currentTarget.value));
  };

  const shown = caption ? `${name} · ${caption}` : name;
  if (isBroken) return html`<p class="small" role="status">${name} is not kept here any more.</p>`;
  return html`<div class="player" ref=${frame}>
    <audio
      ref=${audio}
      src=${isSeen ? url : undefined}
      preload="metadata"
      onPlay=${() => setPlaying(true)}
      onPause=${() => setPlaying(false)}
      onTimeUpdate=${() => setTime(audio.current?.currentTime ?? 0)}
      onDurationChange=${() => setLength(audio.current?.duration || 0)}
      onError=${() => setBroken(true)}
    ></audio>
    <button type="button" class="play" onClick=${toggle} aria-label=${`${playing ? 'Pause' : 'Play'} ${shown}`}>
      <${Icon} name=${playing ? 'pause' : 'play'} />
    </button>
    <div class="player-middle">
      <div class="player-name" title=${name} dir="auto">${caption ?? name}</div>
      <input
        type="range"
        min="0"
        max=${length || 1}
        step="0.1"
        value=${Math.min(time, length || 1)}
        disabled=${length === 0}
        onInput=${seek}
        aria-label=${`Position in ${shown}`}
        aria-valuetext=${`${clock(time)} of ${clock(length)}`}
      />
    </div>
    <span class="player-time small" aria-hidden="true">${clock(time)} / ${length ? clock(length) : '–:––'}</span>
    <a class="icon" href=${url} download=${name} aria-label=${`Save ${shown}`}>
      <${Icon} name="save" />
    </a>
  </div>`;
}

/**
 * Whether the element was ever near the window. What was never near is not loaded.
 * @param {{ current: Element | null }} ref
 */
function useSeen(ref) {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!ref.current || isSeen) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: '300px' },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen;
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
