/** Typed element lookup, and code shared by the players. */

/** Steps of a waveform or slider. More would be smaller than a pixel. */
export const STEPS = 240;

/**
 * Returns the first element that matches. Throws TypeError if it is missing or has another type.
 * @template {Element} Type
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Type} type
 * @returns {Type}
 */
export function find(parent, selector, type) {
  const found = parent.querySelector(selector);
  if (found instanceof type) return found;
  throw new TypeError(`The page has no ${selector}`);
}

/**
 * Formats seconds as `2:31`.
 * @param {number} seconds
 */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/**
 * Shows the playback position. Skips invisible changes, because each write triggers a repaint.
 * @param {HTMLInputElement} seek
 * @param {HTMLElement} time
 * @param {number} seconds
 * @returns {number} number of steps played
 */
export function showPosition(seek, time, seconds) {
  const length = Number(seek.max);
  const stepsUntil = (/** @type {number} */ at) => Math.ceil((at / length) * STEPS);
  const played = stepsUntil(seconds);
  if (played !== stepsUntil(Number(seek.value))) seek.value = String(seconds);
  const valueText = `${clockTime(seconds)} of ${clockTime(length)}`;
  if (seek.getAttribute('aria-valuetext') !== valueText) {
    seek.setAttribute('aria-valuetext', valueText);
    time.textContent = clockTime(seconds);
  }
  return played;
}

/**
 * Highlights the current line, and scrolls it into view if the list overflows.
 * @param {number} take
 * @param {number} seconds
 */
export function showLine(take, seconds) {
  const list = document.querySelector(`ol[data-words="${take}"]`);
  if (!(list instanceof HTMLElement)) return;
  const lines = [...list.querySelectorAll('li')];
  const current = lines.findLast(({ dataset }) => Number(dataset.start) <= seconds);
  const previous = list.querySelector('li[aria-current]');
  if (previous === current) return;
  previous?.removeAttribute('aria-current');
  current?.setAttribute('aria-current', 'true');
  if (!current || list.scrollHeight <= list.clientHeight) return;
  const middle = current.offsetTop - list.offsetTop - (list.clientHeight - current.offsetHeight) / 2;
  const reducesMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  list.scrollTo({ top: middle, behavior: reducesMotion ? 'auto' : 'smooth' });
}

/**
 * Notifies all players on the page that one started, so the others pause.
 * @param {EventTarget} player
 */
export function begin(player) {
  document.dispatchEvent(new CustomEvent('minstrel:begin', { detail: player }));
}

/**
 * @param {EventTarget} player
 * @param {() => void} pause
 */
export function pauseForOthers(player, pause) {
  document.addEventListener('minstrel:begin', (event) => {
    if (event instanceof CustomEvent && event.detail !== player) pause();
  });
}
