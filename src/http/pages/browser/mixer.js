/** The mixer for a take's stems. Opened by a button, because it downloads all stems. While it is open, the player plays the mix. */
import { openDeck } from './deck.js';
import { element, find, findAll } from './elements.js';
import { addTo, encodeWav, gainsOf, wavesOf } from './mixing.js';
import { BARS, channelsOf, createWave } from './wave.js';

/** In hertz. Downloads keep the quality of the stems, regardless of the playback rate. */
const DOWNLOAD_RATE = 44_100;
const VOCALS = /\bvocals?$/i;
/** In seconds, for a take of unknown length. */
const TYPICAL_LENGTH = 240;

/** @typedef {(sentence: string) => void} Report */
/** @typedef {Awaited<ReturnType<typeof createMixer>>} Mixer */
/** @typedef {ReturnType<typeof createMixers>} Mixers */

/** @param {import('./player.js').Player} player */
export function createMixers(player) {
  const sections = findAll(document, '[data-mixer]', HTMLElement);
  /** @type {Map<number, Promise<Mixer>>} */
  const mixers = new Map();
  const sectionOf = (/** @type {number} */ number) =>
    sections.find(({ dataset }) => Number(dataset.mixer) === number);

  return {
    sectionOf,
    /** @param {number} number */
    hasVocals: (number) => {
      const lanes = sectionOf(number)?.querySelectorAll('[data-stem]') ?? [];
      return [...lanes].some((lane) => lane instanceof HTMLElement && VOCALS.test(lane.dataset.stem ?? ''));
    },
    /**
     * Loads the stems of the chosen take, and plays it through them from now on.
     * @param {Report} report
     */
    async open(report) {
      const { take } = player;
      const section = sectionOf(take.number);
      if (!section) return undefined;
      const loading = mixers.get(take.number) ?? createMixer(section, take, player, report);
      mixers.set(take.number, loading);
      try {
        const mixer = await loading;
        report('');
        if (take.sound !== mixer.deck) await player.use(take, mixer.deck);
        return mixer;
      } catch {
        mixers.delete(take.number);
        report("Couldn't load the stems. Reload the page and try again.");
        return undefined;
      }
    },
    /** Plays the file of the take again. */
    async close() {
      const { take } = player;
      if (take.sound !== take.file) await player.use(take, take.file);
    },
  };
}

/**
 * @param {string} url
 * @returns {Promise<ArrayBuffer>}
 */
async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.arrayBuffer();
}

/**
 * @param {HTMLElement} section
 * @param {import('./player.js').Take} take
 * @param {import('./player.js').Player} player
 * @param {Report} report
 */
async function createMixer(section, take, player, report) {
  const rows = findAll(section, '.lane', HTMLElement);
  let loaded = 0;
  report('Loading the stems…');
  const files = await Promise.all(
    rows.map(async ({ dataset: { src = '', stem = '' } }) => {
      const data = await load(src);
      loaded += 1;
      report(`Loading the stems… ${loaded} of ${rows.length}`);
      return { name: stem, data };
    }),
  );
  report('Preparing the mixer…');
  const deck = await openDeck(files, take.file.duration || TYPICAL_LENGTH);
  const levels = wavesOf(deck.buffers.map(channelsOf), BARS);
  const apply = () => {
    const gains = gainsOf(lanes.map(({ state }) => state));
    deck.setGains(gains);
    for (const [index, { row }] of lanes.entries()) row.classList.toggle('silent', gains[index] === 0);
  };
  const lanes = rows.map((row, index) => createLane(row, levels[index], apply));
  player.events.addEventListener('move', () => {
    if (take.sound === deck) for (const { wave } of lanes) wave.setPlayed(deck.position() / deck.duration);
  });
  const save = find(section, '.save', HTMLButtonElement);
  const status = find(section, '.status', HTMLElement);
  save.hidden = false;
  save.addEventListener('click', async () => {
    save.disabled = true;
    status.textContent = 'Mixing…';
    const wav = await render(files, gainsOf(lanes.map(({ state }) => state)));
    saveFile(wav, `${document.title} - mix.wav`);
    status.textContent = '';
    save.disabled = false;
  });
  apply();
  // For tests.
  Object.assign(section, { deck });
  return {
    deck,
    /** @param {boolean} on */
    setVocals(on) {
      for (const lane of lanes) if (VOCALS.test(lane.name)) lane.setMuted(!on);
      apply();
    },
  };
}

/**
 * @param {HTMLElement} row
 * @param {Float32Array | undefined} levels
 * @param {() => void} onChange
 */
function createLane(row, levels, onChange) {
  const name = row.dataset.stem ?? '';
  const state = { volume: 1, muted: false, soloed: false };
  const mute = element(
    'button',
    { type: 'button', class: 'mute', 'aria-pressed': 'false', 'aria-label': `Mute ${name}`, title: 'Mute' },
    'M',
  );
  const solo = element(
    'button',
    { type: 'button', class: 'solo', 'aria-pressed': 'false', 'aria-label': `Solo ${name}`, title: 'Solo' },
    'S',
  );
  const volume = element('input', {
    type: 'range',
    class: 'volume slider',
    min: '0',
    max: '1.5',
    step: '0.01',
    value: '1',
    'aria-label': `Volume of ${name}`,
  });
  const picture = element('div', { class: 'wave' });
  row.append(mute, solo, volume, picture);
  const wave = createWave(picture);
  wave.setLevels(levels ?? []);

  const setMuted = (/** @type {boolean} */ muted) => {
    state.muted = muted;
    mute.setAttribute('aria-pressed', String(muted));
  };
  mute.addEventListener('click', () => {
    setMuted(!state.muted);
    onChange();
  });
  solo.addEventListener('click', () => {
    state.soloed = !state.soloed;
    solo.setAttribute('aria-pressed', String(state.soloed));
    onChange();
  });
  const showVolume = () => volume.style.setProperty('--level', `${(state.volume / 1.5) * 100}%`);
  volume.addEventListener('input', () => {
    state.volume = Number(volume.value);
    showVolume();
    onChange();
  });
  showVolume();
  return { row, name, state, setMuted, wave };
}

/**
 * Mixes the stems into one WAV file. Decodes one stem at a time, so that only two buffers are in memory.
 * @param {readonly import('./deck.js').StemFile[]} files
 * @param {readonly number[]} gains
 */
async function render(files, gains) {
  /** @type {Float32Array[]} */
  let mix = [];
  for (const [index, { data }] of files.entries()) {
    const gain = gains[index] ?? 0;
    const buffer = await new OfflineAudioContext(2, 1, DOWNLOAD_RATE).decodeAudioData(data.slice(0));
    mix = [0, 1].map((channel) => {
      const previous = mix[channel] ?? new Float32Array(0);
      const target = previous.length >= buffer.length ? previous : new Float32Array(buffer.length);
      if (target !== previous) target.set(previous);
      addTo(target, buffer.getChannelData(Math.min(channel, buffer.numberOfChannels - 1)), gain);
      return target;
    });
  }
  return encodeWav(mix, DOWNLOAD_RATE);
}

/**
 * @param {ArrayBuffer} file
 * @param {string} name
 */
function saveFile(file, name) {
  const url = URL.createObjectURL(new Blob([file], { type: 'audio/wav' }));
  const link = element('a', { href: url, download: name.replace(/[\\/:*?"<>|]/g, ' ') });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
