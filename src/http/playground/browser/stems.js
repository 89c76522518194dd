/** A mixer for the stems of a song: all of them play in sync, each with its own volume. */
import { html, useEffect, useRef, useState } from 'htm/preact/standalone';
import { download } from '../../pages/browser/audio.js';
import { gainsOf } from '../../pages/browser/mixing.js';
import { Icon } from './icon.js';
import { announceStart, PlayButton, SeekBar, useExclusivePlayback } from './player.js';

/** @import { BrowserMedia } from '../../../core/web/browser-chat.ts' */
/** @import { Lane } from '../../pages/browser/mixing.js' */

const FOLLOW_MS = 100;
/** Bars of a waveform. */
const BARS = 96;
/** @type {Lane} */
const NEUTRAL = { volume: 1, muted: false, soloed: false };

/** @param {readonly BrowserMedia[]} stems */
async function open(stems) {
  const { openDeck } = await import('../../pages/browser/deck.js');
  const files = await Promise.all(stems.map(({ url = '' }) => download(url)));
  const deck = await openDeck(files);
  return { deck, waves: deck.levels(BARS) };
}

/** @param {{ title: string, stems: readonly BrowserMedia[] }} props */
export function Stems({ title, stems }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const opened = useRef(/** @type {Promise<Awaited<ReturnType<typeof open>>> | undefined} */ (undefined));
  const [mix, setMix] = useState(/** @type {Awaited<ReturnType<typeof open>> | undefined} */ (undefined));
  const [lanes, setLanes] = useState(() => stems.map(() => NEUTRAL));
  const [isPlaying, setPlaying] = useState(false);
  const [position, setPosition] = useState(0);
  /** From the metadata of one file, because loading all stems is slow. */
  const [knownLength, setKnownLength] = useState(0);
  const [status, setStatus] = useState('');
  const deck = mix?.deck;
  const gains = gainsOf(lanes);

  useExclusivePlayback(frame, () => {
    setPlaying(false);
    void opened.current?.then(({ deck: playing }) => playing.pause());
  });
  useEffect(() => mix?.deck.setGains(gainsOf(lanes)), [mix, lanes]);
  useEffect(() => {
    if (!isPlaying || !deck) return;
    const timer = setInterval(() => {
      setPosition(deck.position());
      setPlaying(deck.playing);
    }, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [isPlaying, deck]);
  useEffect(() => () => void opened.current?.then(({ deck: playing }) => playing.pause()), []);

  async function toggle() {
    if (isPlaying) {
      deck?.pause();
      return setPlaying(false);
    }
    announceStart(frame.current);
    try {
      if (!opened.current) setStatus('Loading…');
      opened.current ??= open(stems);
      const ready = await opened.current;
      ready.deck.setGains(gainsOf(lanes));
      if (!mix) await ready.deck.seek(position);
      setMix(ready);
      setStatus('');
      await ready.deck.play();
      setPlaying(true);
    } catch {
      opened.current = undefined;
      setStatus("Couldn't load the stems. Try again.");
    }
  }

  /** @param {number} at @param {Partial<Lane>} change */
  const setLane = (at, change) =>
    setLanes((current) => current.map((lane, index) => (index === at ? { ...lane, ...change } : lane)));
  const length = deck?.duration ?? knownLength;
  return html`<div class="stems" ref=${frame} role="group" aria-label=${`Mixer: ${title}`}>
    <audio preload="metadata" src=${stems[0]?.url} onDurationChange=${(
      /** @type {Event} */ { currentTarget },
    ) => currentTarget instanceof HTMLAudioElement && setKnownLength(currentTarget.duration || 0)}></audio>
    <div class="player">
      <${PlayButton} isPlaying=${isPlaying} name="all stems" onToggle=${toggle} isBusy=${status === 'Loading…'} />
      <span class="player-label" role="status">${status || 'Mix'}</span>
      <${SeekBar} name="the mix" position=${position} length=${length} onSeek=${(
        /** @type {number} */ to,
      ) => {
        setPosition(to);
        void deck?.seek(to);
      }} />
    </div>
    <ul class="lanes">
      ${stems.map((stem, index) => {
        const { volume, muted, soloed } = lanes[index] ?? NEUTRAL;
        const name = stem.caption ?? stem.name;
        const bars = mix?.waves[index];
        return html`<li key=${stem.name} class=${gains[index] === 0 ? 'lane silent' : 'lane'}>
          <span class="lane-name" dir="auto">${name}</span>
          <button type="button" class="toggle mute" aria-pressed=${muted} aria-label=${`Mute ${name}`} title="Mute" onClick=${() => setLane(index, { muted: !muted })}>M</button>
          <button type="button" class="toggle" aria-pressed=${soloed} aria-label=${`Solo ${name}`} title="Solo" onClick=${() => setLane(index, { soloed: !soloed })}>S</button>
          <input type="range" class="slider volume" min="0" max="1.5" step="0.01" value=${volume} style=${{ '--level': `${volume / 0.015}%` }} aria-label=${`Volume of ${name}`}
            onInput=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && setLane(index, { volume: Number(currentTarget.value) })} />
          <${Wave} bars=${bars} played=${length > 0 ? position / length : 0} />
          <a class="icon" href=${stem.url} download=${stem.name} aria-label=${`Download ${name}`} title="Download"><${Icon} name="save" /></a>
        </li>`;
      })}
    </ul>
  </div>`;
}

/** A line until the stems are loaded. @param {{ bars: Float32Array | undefined, played: number }} props */
function Wave({ bars, played }) {
  if (!bars) return html`<hr class="wave" aria-hidden="true" />`;
  const heights = [...bars].map((height) => Math.max(0.04, height) * 10);
  /** @param {number} from @param {number} to */
  const path = (from, to) =>
    heights
      .slice(from, to)
      .map((height, index) => `M${from + index + 0.5} ${10 - height}v${2 * height}`)
      .join('');
  const done = Math.round(played * BARS);
  return html`<svg class="wave" viewBox=${`0 0 ${BARS} 20`} preserveAspectRatio="none" aria-hidden="true">
    <path class="rest" d=${path(done, BARS)} /><path class="done" d=${path(0, done)} />
  </svg>`;
}
