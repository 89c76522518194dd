/** The mixer of a take's stems. A button opens it, because it downloads all stems. While it is open, the player plays the mix. */
import { decode, download } from './audio.js';
import { openDeck } from './deck.js';
import { element, find, findAll } from './elements.js';
import { addTo, encodeWav, gainsOf } from './mixing.js';
import { BARS, createWave } from './wave.js';

/** In hertz. Downloads keep the quality of the stems, regardless of the playback rate. */
const DOWNLOAD_RATE = 44_100;
const VOCALS = /\bvocals?$/i;

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
      const section = sectionOf(number);
      const lanes = section ? findAll(section, '.lane', HTMLElement) : [];
      return lanes.some(({ dataset }) => VOCALS.test(dataset.stem ?? ''));
    },
    /**
     * Loads the stems of the chosen take, and plays them instead of its file. Returns undefined if that fails, or if another
     * take was chosen in the meantime.
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
        if (player.take !== take) return undefined;
        if (take.sound !== mixer.deck) await player.use(mixer.deck);
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
      if (take.sound !== take.file) await player.use(take.file);
    },
  };
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
    rows.map(async ({ dataset: { src = '' } }) => {
      const file = await download(src);
      loaded += 1;
      report(`Loading the stems… ${loaded} of ${rows.length}`);
      return file;
    }),
  );
  report('Preparing the mixer…');
  const deck = await openDeck(files, take.file.duration || undefined);
  const levels = deck.levels(BARS);
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
    class: 'slider',
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
 * @param {readonly ArrayBuffer[]} files
 * @param {readonly number[]} gains
 */
async function render(files, gains) {
  /** @type {Float32Array[]} */
  let mix = [];
  for (const [index, file] of files.entries()) {
    const gain = gains[index] ?? 0;
    const buffer = await decode(new OfflineAudioContext(2, 1, DOWNLOAD_RATE), file);
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
