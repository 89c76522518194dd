/** The mixer for a take's stems. Opened by a button, because it downloads all stems. */
import { openDeck } from './deck.js';
import { begin, clockTime, find, pauseForOthers, STEPS, showLine, showPosition } from './elements.js';
import { addTo, encodeWav, gainsOf, wavesOf } from './mixing.js';

const FOLLOW_MS = 100;
/** In hertz. Downloads keep the quality of the stems, regardless of the playback rate. */
const DOWNLOAD_RATE = 44_100;
const VOCALS = /\bvocals?$/i;

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<Record<string, string>>} attributes
 * @param {...(Node | string)} children
 */
function element(name, attributes, ...children) {
  const created = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
}

/** @param {HTMLElement} section */
function enhance(section) {
  const open = find(section, '.open', HTMLButtonElement);
  const status = find(section, '.status', HTMLElement);
  open.hidden = false;
  open.addEventListener('click', async () => {
    if (open.ariaBusy === 'true') return;
    // Disabling the button would lose the focus.
    open.ariaBusy = 'true';
    try {
      status.textContent = 'Loading…';
      await start(section, (sentence) => {
        status.textContent = sentence;
      });
      const isFocused = document.activeElement === open;
      open.remove();
      if (isFocused) find(section, '.play', HTMLButtonElement).focus();
    } catch {
      status.textContent = "Couldn't load the stems. Reload the page and try again.";
      open.ariaBusy = 'false';
    }
  });
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
 * @param {(sentence: string) => void} setStatus
 */
async function start(section, setStatus) {
  const rows = [...section.querySelectorAll('.lane')].filter((row) => row instanceof HTMLElement);
  let loaded = 0;
  const files = await Promise.all(
    rows.map(async ({ dataset: { src = '', stem = '' } }) => {
      const data = await load(src);
      loaded += 1;
      setStatus(`Loading… ${loaded} of ${rows.length}`);
      return { name: stem, data };
    }),
  );
  setStatus('Decoding…');
  const take = Number(section.dataset.mixer);
  const audio = document.querySelector(`[data-take="${take}"] audio`);
  const estimate =
    audio instanceof HTMLAudioElement && Number.isFinite(audio.duration) ? audio.duration : 240;
  const deck = await openDeck(files, estimate);
  const waves = wavesOf(
    deck.buffers.map((buffer) =>
      Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index)),
    ),
    STEPS,
  );
  const lanes = rows.map((row, index) => createLane(row, waves[index], () => apply()));
  const karaoke = element('button', { type: 'button', class: 'karaoke', 'aria-pressed': 'false' }, 'Karaoke');
  const play = element('button', { type: 'button', class: 'play', 'aria-label': 'Play the mix' });
  play.append(playIcon());
  const seek = element('input', {
    type: 'range',
    class: 'seek',
    min: '0',
    max: String(deck.duration),
    value: '0',
    step: 'any',
    'aria-label': 'Position in the mix',
  });
  const time = element('span', { class: 'time' }, '0:00');
  const length = element('span', { class: 'length' }, clockTime(deck.duration));
  const download = element('button', { type: 'button', class: 'save' }, 'Download mix');
  const hasVocals = files.some(({ name }) => VOCALS.test(name));
  section
    .querySelector('.lanes')
    ?.before(
      element(
        'div',
        { class: 'controls' },
        play,
        time,
        seek,
        length,
        ...(hasVocals ? [karaoke] : []),
        download,
      ),
    );

  const apply = () => deck.setGains(gainsOf(lanes.map(({ state }) => state)));
  let drawnSteps = -1;
  let dragging = false;
  const show = () => {
    const position = deck.position();
    if (deck.playing && position >= deck.duration) return void deck.seek(0).then(() => stop());
    const played = showPosition(seek, time, dragging ? Number(seek.value) : position);
    if (played !== drawnSteps) for (const lane of lanes) lane.draw(played);
    drawnSteps = played;
    showLine(take, position);
  };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const showState = () => {
    play.classList.toggle('playing', deck.playing);
    play.setAttribute('aria-label', deck.playing ? 'Pause the mix' : 'Play the mix');
    clearInterval(timer);
    if (deck.playing) timer = setInterval(show, FOLLOW_MS);
    show();
  };
  const stop = () => {
    deck.pause();
    showState();
  };
  play.addEventListener('click', async () => {
    if (deck.playing) return stop();
    begin(play);
    await deck.play();
    showState();
  });
  pauseForOthers(play, stop);
  seek.addEventListener('input', () => {
    dragging = true;
    show();
  });
  seek.addEventListener('change', async () => {
    await deck.seek(Number(seek.value));
    dragging = false;
    show();
  });
  karaoke.addEventListener('click', () => {
    const on = karaoke.getAttribute('aria-pressed') !== 'true';
    karaoke.setAttribute('aria-pressed', String(on));
    document.body.classList.toggle('singing', on);
    for (const lane of lanes) if (VOCALS.test(lane.name)) lane.setMuted(on);
    apply();
    if (on) document.querySelector(`ol[data-words="${take}"]`)?.scrollIntoView({ block: 'nearest' });
  });
  download.addEventListener('click', async () => {
    download.disabled = true;
    setStatus('Mixing…');
    const gains = gainsOf(lanes.map(({ state }) => state));
    const wav = await render(files, gains);
    save(wav, `${document.title} - mix.wav`);
    setStatus('');
    download.disabled = false;
  });
  apply();
  showState();
  setStatus('');
  // For tests.
  Object.assign(section, { deck });
}

/**
 * @param {HTMLElement} row
 * @param {Float32Array | undefined} computedWave
 * @param {() => void} onChange
 */
function createLane(row, computedWave, onChange) {
  const wave = computedWave ?? new Float32Array(STEPS);
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
    class: 'volume',
    min: '0',
    max: '1.5',
    step: '0.01',
    value: '1',
    'aria-label': `Volume of ${name}`,
  });
  const canvas = element('canvas', { class: 'wave', 'aria-hidden': 'true' });
  row.querySelector('audio')?.replaceWith(mute, solo, volume, canvas);

  const setMuted = (/** @type {boolean} */ muted) => {
    state.muted = muted;
    mute.setAttribute('aria-pressed', String(muted));
    row.classList.toggle('muted', muted);
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
  volume.addEventListener('input', () => {
    state.volume = Number(volume.value);
    onChange();
  });
  return { name, state, setMuted, draw: (/** @type {number} */ played) => draw(canvas, wave, played) };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} peaks
 * @param {number} played number of peaks played
 */
function draw(canvas, peaks, played) {
  const { clientWidth, clientHeight } = canvas;
  const scale = devicePixelRatio || 1;
  const width = Math.round(clientWidth * scale);
  const height = Math.round(clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext('2d');
  if (!pen || width === 0) return;
  const style = getComputedStyle(canvas);
  pen.clearRect(0, 0, width, height);
  const step = width / peaks.length;
  peaks.forEach((peak, index) => {
    const bar = Math.max(scale, peak * height * 0.96);
    pen.fillStyle = index < played ? style.color : style.caretColor;
    pen.fillRect(index * step, (height - bar) / 2, Math.max(1, step * 0.66), bar);
  });
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
function save(file, name) {
  const url = URL.createObjectURL(new Blob([file], { type: 'audio/wav' }));
  const link = element('a', { href: url, download: name.replace(/[\\/:*?"<>|]/g, ' ') });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function playIcon() {
  const icon = document.querySelector('.take .play svg')?.cloneNode(true);
  return icon ?? '▶';
}

for (const section of document.querySelectorAll('[data-mixer]'))
  if (section instanceof HTMLElement) enhance(section);
