/** A player for one audio file. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { clockTime } from '../../pages/browser/elements.js';
import { Icon } from './icon.js';

/** Announces a player that starts, so that all others pause. The detail is the player's element. */
const STARTED = 'playback-started';

/** Pauses all other players. @param {EventTarget | null} player */
export const announceStart = (player) => document.dispatchEvent(new CustomEvent(STARTED, { detail: player }));

/** Calls `pause` when another player starts. @param {{ current: EventTarget | null }} player @param {() => void} pause */
export function useExclusivePlayback(player, pause) {
  useEffect(() => {
    /** @param {Event} event */
    const onStart = (event) => {
      if (event instanceof CustomEvent && event.detail !== player.current) pause();
    };
    document.addEventListener(STARTED, onStart);
    return () => document.removeEventListener(STARTED, onStart);
  }, []);
}

/** @param {{ isPlaying: boolean, name: string, onToggle: () => void, isBusy?: boolean }} props */
export const PlayButton = ({ isPlaying, name, onToggle, isBusy = false }) =>
  html`<button
    type="button"
    class="play"
    aria-label=${`${isPlaying ? 'Pause' : 'Play'} ${name}`}
    aria-busy=${isBusy}
    onClick=${onToggle}
  >
    <${Icon} name=${isPlaying ? 'pause' : 'play'} />
  </button>`;

/**
 * A slider and its times. `length` is that of the file, 0 until it is loaded, and `reported` that in the chat, if any.
 * @param {{ name: string, position: number, length: number, reported?: number, onSeek: (seconds: number) => void }} props
 */
export function SeekBar({ name, position, length, reported = 0, onSeek }) {
  const total = clockTime(Math.round(reported || length));
  return html`<input
    type="range"
    class="slider"
    min="0"
    max=${length || 1}
    disabled=${length === 0}
    step="any"
    value=${position}
    style=${{ '--level': `${length > 0 ? (100 * position) / length : 0}%` }}
    aria-label=${`Position in ${name}`}
    aria-valuetext=${`${clockTime(position)} of ${total}`}
    onInput=${(/** @type {Event} */ { currentTarget }) =>
      currentTarget instanceof HTMLInputElement && onSeek(Number(currentTarget.value))}
  />
  <span class="time">${length > 0 && `${clockTime(position)} / ${total}`}</span>`;
}

/**
 * `label` is shown, such as `Take 1`, and `name` is the file's name. `seconds` is the length in the chat, or 0.
 * @param {{ url: string | undefined, name: string, label: string, seconds: number, children?: import('preact').ComponentChildren }} props
 */
export function Player({ url, name, label, seconds, children }) {
  const audio = useRef(/** @type {HTMLAudioElement | null} */ (null));
  const [isPlaying, setPlaying] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const [position, setPosition] = useState(0);
  const [length, setLength] = useState(seconds);
  useExclusivePlayback(audio, () => audio.current?.pause());
  if (isBroken) return html`<p class="small" role="status">${name} is no longer available.</p>`;
  return html`<div class="player">
    <audio
      ref=${audio}
      preload="none"
      src=${url}
      aria-label=${`${name} · ${label}`}
      onPlay=${() => {
        announceStart(audio.current);
        setPlaying(true);
      }}
      onPause=${() => setPlaying(false)}
      onEnded=${() => setPosition(0)}
      onTimeUpdate=${() => setPosition(audio.current?.currentTime ?? 0)}
      onDurationChange=${() => setLength(audio.current?.duration || seconds)}
      onError=${() => setBroken(true)}
    ></audio>
    <${PlayButton}
      isPlaying=${isPlaying}
      name=${`${name}, ${label}`}
      onToggle=${() =>
        // A missing file triggers an error event. A player that is removed doesn't play.
        audio.current?.paused ? audio.current.play().catch(() => undefined) : audio.current?.pause()}
    />
    <span class="player-label" dir="auto">${label}</span>
    <${SeekBar} name=${`${name}, ${label}`} position=${position} length=${length} reported=${seconds} onSeek=${(
      /** @type {number} */ to,
    ) => {
      setPosition(to);
      if (audio.current) audio.current.currentTime = to;
    }} />
    <a class="icon" href=${url} download=${name} aria-label=${`Download ${name}, ${label}`} title="Download"><${Icon} name="save" /></a>
    ${children}
  </div>`;
}
