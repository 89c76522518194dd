/** The play button, times and position slider of a player. */
import { clockTime, find } from './elements.js';

/** Update interval of the position, in milliseconds. `timeupdate` only fires four times a second. */
const FOLLOW_MS = 100;

/**
 * @typedef {object} Sound
 * @property {boolean} playing
 * @property {number} duration in seconds, or 0 if unknown
 * @property {() => number} position in seconds
 * @property {() => Promise<void>} play
 * @property {() => void} pause
 * @property {(seconds: number) => unknown} seek
 * @property {((speed: number) => void)=} setSpeed
 */

/**
 * @typedef {object} Playing
 * @property {string} name
 * @property {string} length as in the chat, or empty
 * @property {HTMLAudioElement} audio
 * @property {Sound} sound the audio, or the mix of its stems
 */

/** @param {HTMLAudioElement} audio @returns {Sound} */
export function soundOf(audio) {
  return {
    get playing() {
      return !audio.paused;
    },
    get duration() {
      return Number.isFinite(audio.duration) ? audio.duration : 0;
    },
    position: () => audio.currentTime,
    // A missing file triggers an error event.
    play: () => audio.play().catch(() => undefined),
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

/**
 * @param {ParentNode} root
 * @param {readonly HTMLAudioElement[]} audios
 * @param {() => Playing} current
 * @param {(part: number) => void} onMove receives the played part, from 0 to 1
 */
export function createControls(root, audios, current, onMove = () => undefined) {
  const play = find(root, '.play', HTMLButtonElement);
  const slider = find(root, 'input[type=range]', HTMLInputElement);
  const time = find(root, '.time', HTMLElement);
  const length = find(root, '.length', HTMLElement);
  let dragging = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;

  const lengthText = () => {
    const { length: known, sound } = current();
    return known || (sound.duration > 0 ? clockTime(Math.round(sound.duration)) : '');
  };
  const showPosition = () => {
    const seconds = dragging ? Number(slider.value) : current().sound.position();
    const total = Number(slider.max);
    const part = total > 0 ? seconds / total : 0;
    if (!dragging) slider.value = String(seconds);
    slider.style.setProperty('--level', `${100 * part}%`);
    // At the end, both times are the same, although the file is a fraction longer or shorter than reported.
    const text = part >= 1 ? lengthText() : clockTime(seconds);
    const valueText = `${text} of ${lengthText()}`;
    if (slider.getAttribute('aria-valuetext') !== valueText) {
      slider.setAttribute('aria-valuetext', valueText);
      time.textContent = text;
    }
    onMove(part);
  };
  const showState = () => {
    const { name, sound } = current();
    play.classList.toggle('playing', sound.playing);
    play.setAttribute('aria-label', `${sound.playing ? 'Pause' : 'Play'} ${name}`);
    clearInterval(timer);
    // A mix ends without an event.
    if (sound.playing)
      timer = setInterval(() => (current().sound.playing ? showPosition() : showState()), FOLLOW_MS);
    showPosition();
  };
  const showLength = () => {
    const { duration } = current().sound;
    if (duration > 0) slider.max = String(duration);
    length.textContent = lengthText();
    showPosition();
  };

  for (const audio of audios) {
    /** @param {string} event @param {() => void} show */
    const on = (event, show) => audio.addEventListener(event, () => audio === current().audio && show());
    for (const event of ['play', 'pause', 'ended']) on(event, showState);
    for (const event of ['timeupdate', 'seeked']) on(event, showPosition);
    for (const event of ['loadedmetadata', 'durationchange']) on(event, showLength);
  }
  slider.addEventListener('input', () => {
    dragging = true;
    showPosition();
  });
  slider.addEventListener('change', async () => {
    await current().sound.seek(Number(slider.value));
    dragging = false;
    showPosition();
  });
  return {
    /** Shows another song, take or sound. */
    show() {
      showLength();
      showState();
    },
    showState,
    showPosition,
  };
}
