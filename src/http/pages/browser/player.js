/** The song's player: one set of controls for the chosen take, which plays as a file or as a mix of its stems. */
import { clockTime, find, findAll } from './elements.js';
import { createWave, loadLevels } from './wave.js';

/** Update interval of the position and the lyrics, in milliseconds. `timeupdate` only fires four times a second. */
const FOLLOW_MS = 100;

/**
 * @typedef {object} Sound
 * @property {boolean} playing
 * @property {number} duration in seconds
 * @property {() => number} position in seconds
 * @property {() => Promise<void>} play
 * @property {() => void} pause
 * @property {(seconds: number) => unknown} seek
 * @property {((speed: number) => void)=} setSpeed
 */

/**
 * @typedef {object} Take
 * @property {number} number
 * @property {string} name
 * @property {HTMLAudioElement} audio
 * @property {Sound} file
 * @property {Sound} sound what plays now: the file, or the mix
 * @property {Promise<Float32Array>=} levels
 */

/** @param {HTMLAudioElement} audio @returns {Sound} */
function soundOf(audio) {
  return {
    get playing() {
      return !audio.paused;
    },
    get duration() {
      return Number.isFinite(audio.duration) ? audio.duration : 0;
    },
    position: () => audio.currentTime,
    play: () => audio.play(),
    pause: () => audio.pause(),
    seek: (seconds) => {
      audio.currentTime = seconds;
    },
    setSpeed: (speed) => {
      // Every browser keeps the pitch: https://developer.mozilla.org/docs/Web/API/HTMLMediaElement/preservesPitch
      audio.playbackRate = speed;
    },
  };
}

/** @param {HTMLElement} root */
export function createPlayer(root) {
  const controls = find(root, '.controls', HTMLElement);
  const play = find(controls, '.play', HTMLButtonElement);
  const seek = find(controls, '.seek', HTMLInputElement);
  const time = find(controls, '.time', HTMLElement);
  const length = find(controls, '.length', HTMLElement);
  const status = find(root, '.status', HTMLElement);
  const speed = find(document, '.speed select', HTMLSelectElement);
  const wave = createWave(find(controls, '.wave', HTMLElement));
  /** @type {Take[]} */
  const takes = findAll(root, 'audio[data-take]', HTMLAudioElement).map((audio) => {
    const file = soundOf(audio);
    return { number: Number(audio.dataset.take), name: audio.dataset.name ?? '', audio, file, sound: file };
  });
  const [first] = takes;
  if (!first) throw new TypeError('The page has no takes');
  let take = first;
  let dragging = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const events = new EventTarget();
  const notify = (/** @type {'choose' | 'play' | 'move'} */ name) => events.dispatchEvent(new Event(name));

  const lengthText = () => {
    const { duration } = take.sound;
    return take.audio.dataset.length || (duration > 0 ? clockTime(Math.round(duration)) : '');
  };
  const showPosition = () => {
    const { duration } = take.sound;
    const position = take.sound.position();
    if (take.sound.playing && duration > 0 && position >= duration && take.sound !== take.file) return end();
    const seconds = dragging ? Number(seek.value) : position;
    const total = Number(seek.max);
    wave.setPlayed(total > 0 ? seconds / total : 0);
    if (!dragging) seek.value = String(seconds);
    // At the end, both times are the same, although the file is a fraction longer or shorter than reported.
    const text = total > 0 && seconds >= total ? lengthText() : clockTime(seconds);
    const valueText = `${text} of ${lengthText()}`;
    if (seek.getAttribute('aria-valuetext') !== valueText) {
      seek.setAttribute('aria-valuetext', valueText);
      time.textContent = text;
    }
    notify('move');
  };
  const showState = () => {
    const { playing } = take.sound;
    play.classList.toggle('playing', playing);
    play.setAttribute('aria-label', `${playing ? 'Pause' : 'Play'} ${take.name}`);
    clearInterval(timer);
    if (playing) timer = setInterval(showPosition, FOLLOW_MS);
    showPosition();
  };
  const showLength = () => {
    const { duration } = take.sound;
    if (duration > 0) seek.max = String(duration);
    length.textContent = lengthText();
    showPosition();
  };
  const showError = () => {
    status.textContent = take.audio.error ? "This file can't be played. Reload the page and try again." : '';
  };
  /** The mix does not stop at its end on its own. */
  const end = () => {
    take.sound.pause();
    void take.sound.seek(0);
    showState();
  };
  /** @param {Take} shown */
  const showWave = async (shown) => {
    shown.levels ??= loadLevels(shown.audio.src);
    wave.setLevels([]);
    // Without it, the bars stay flat.
    const levels = await shown.levels.catch(() => []);
    if (shown === take) wave.setLevels(levels);
  };

  const player = {
    takes,
    events,
    controls,
    get take() {
      return take;
    },
    async play() {
      notify('play');
      // A missing file triggers an error event.
      await take.sound.play().catch(() => undefined);
      showState();
    },
    pause() {
      take.sound.pause();
      showState();
    },
    toggle: () => (take.sound.playing ? player.pause() : void player.play()),
    /** @param {number} seconds */
    async seek(seconds) {
      await take.sound.seek(Math.max(0, seconds));
      showPosition();
    },
    /** Chooses a take, and continues to play if one is playing. @param {number} number */
    choose(number) {
      const chosen = takes.find((candidate) => candidate.number === number);
      if (!chosen || chosen === take) return;
      const { playing } = take.sound;
      take.sound.pause();
      take.sound = take.file;
      take = chosen;
      for (const choice of findAll(root, 'input[name=take]', HTMLInputElement))
        choice.checked = Number(choice.value) === number;
      if (take.audio.preload === 'none') take.audio.preload = 'metadata';
      seek.setAttribute('aria-label', `Position in ${take.name}`);
      applySpeed();
      showError();
      showLength();
      showState();
      void showWave(take);
      notify('choose');
      if (playing) void player.play();
    },
    /**
     * Plays a take through another sound from the same position: its mix, or its file again.
     * @param {Take} changed
     * @param {Sound} sound
     */
    async use(changed, sound) {
      const { playing } = changed.sound;
      const position = changed.sound.position();
      changed.sound.pause();
      changed.sound = sound;
      await sound.seek(position);
      if (playing) await sound.play();
      applySpeed();
      if (changed !== take) return;
      showLength();
      showState();
    },
    /** Draws the waveform when the browser is idle, since that downloads the take. */
    showWave: () => showWave(take),
  };

  function applySpeed() {
    speed.disabled = take.sound.setSpeed === undefined;
    take.sound.setSpeed?.(Number(speed.value));
  }

  play.addEventListener('click', player.toggle);
  for (const { audio } of takes) {
    /** @param {string} event @param {() => void} show */
    const on = (event, show) => audio.addEventListener(event, () => audio === take.audio && show());
    for (const event of ['play', 'pause', 'ended']) on(event, showState);
    for (const event of ['timeupdate', 'seeked']) on(event, showPosition);
    for (const event of ['loadedmetadata', 'durationchange']) on(event, showLength);
    on('error', showError);
  }
  seek.addEventListener('input', () => {
    dragging = true;
    showPosition();
  });
  seek.addEventListener('change', async () => {
    await take.sound.seek(Number(seek.value));
    dragging = false;
    showPosition();
  });
  speed.addEventListener('change', applySpeed);
  for (const choice of findAll(root, 'input[name=take]', HTMLInputElement))
    choice.addEventListener('change', () => player.choose(Number(choice.value)));
  // Handle events from before this module loaded.
  showLength();
  showError();
  showState();
  return player;
}

/** @typedef {ReturnType<typeof createPlayer>} Player */
