/** Waveforms as rounded bars. The played part has its own colour. */
import { channelsOf, decode, download } from './audio.js';
import { wavesOf } from './mixing.js';

export const BARS = 96;
const SVG = 'http://www.w3.org/2000/svg';
/** Half the height of the lowest and the highest bar, of 100. */
const LOWEST = 2;
const HIGHEST = 44;
/** In hertz. Enough for a waveform, in a fraction of the memory. */
const DECODING_RATE = 8_000;

/**
 * Adds a waveform to an element, flat until its levels are known.
 * @param {Element} container
 */
export function createWave(container) {
  // Two overlapping drawings: the upper one is clipped at the position, so playback redraws nothing.
  const paths = ['rest', 'played'].map((name) => {
    const drawing = document.createElementNS(SVG, 'svg');
    drawing.setAttribute('class', `bars ${name}`);
    drawing.setAttribute('viewBox', `0 0 ${BARS} 100`);
    drawing.setAttribute('preserveAspectRatio', 'none');
    drawing.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(SVG, 'path');
    drawing.append(path);
    container.append(drawing);
    return path;
  });
  const played = paths[1]?.ownerSVGElement;

  const wave = {
    /** @param {ArrayLike<number>} levels from 0 to 1, one for each bar */
    setLevels(levels) {
      const bars = Array.from({ length: BARS }, (_, bar) => {
        const half = LOWEST + (HIGHEST - LOWEST) * (levels[bar] ?? 0);
        return `M${bar + 0.5} ${(50 - half).toFixed(1)}v${(2 * half).toFixed(1)}`;
      });
      for (const path of paths) path.setAttribute('d', bars.join(''));
    },
    /** @param {number} part from 0 to 1 */
    setPlayed(part) {
      const hidden = 100 - 100 * Math.min(1, Math.max(0, part || 0));
      if (played) played.style.clipPath = `inset(0 ${hidden.toFixed(2)}% 0 0)`;
    },
  };
  wave.setLevels([]);
  wave.setPlayed(0);
  return wave;
}

/**
 * Downloads and decodes a file for its waveform.
 * @param {string} url
 * @returns {Promise<ArrayLike<number>>}
 */
export async function loadLevels(url) {
  if (savesData()) return [];
  const buffer = await decode(new OfflineAudioContext(1, 1, DECODING_RATE), await download(url));
  return wavesOf([channelsOf(buffer)], BARS)[0] ?? [];
}

/** https://developer.mozilla.org/docs/Web/API/NetworkInformation/saveData */
function savesData() {
  const connection = 'connection' in navigator ? navigator.connection : undefined;
  return (
    typeof connection === 'object' && connection && 'saveData' in connection && connection.saveData === true
  );
}
