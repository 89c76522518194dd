/** Finding elements whose type is known, and what players share. */

/** Of a waveform, and of a slider: less would be a part of a pixel. */
export const STEPS = 240;

/**
 * The first element of a type below another. Throws TypeError where the page was made otherwise.
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
 * Minutes and seconds, as `2:31`.
 * @param {number} seconds
 */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/**
 * Shows where the music is. Writes to the page only what differs visibly or audibly, because the browser paints after each write.
 * @param {HTMLInputElement} seek
 * @param {HTMLElement} time
 * @param {number} seconds
 * @returns {number} how many steps were played
 */
export function showPosition(seek, time, seconds) {
  const length = Number(seek.max);
  const stepsUntil = (/** @type {number} */ moment) => Math.ceil((moment / length) * STEPS);
  const played = stepsUntil(seconds);
  if (played !== stepsUntil(Number(seek.value))) seek.value = String(seconds);
  const said = `${clockTime(seconds)} of ${clockTime(length)}`;
  if (seek.getAttribute('aria-valuetext') !== said) {
    seek.setAttribute('aria-valuetext', said);
    time.textContent = clockTime(seconds);
  }
  return played;
}

/**
 * Marks the line that is sung, and keeps it in view while its list is longer than it shows.
 * @param {number} take
 * @param {number} seconds
 */
export function showLine(take, seconds) {
  const list = document.querySelector(`ol[data-words="${take}"]`);
  if (!(list instanceof HTMLElement)) return;
  const lines = [...list.querySelectorAll('li')];
  const present = lines.findLast(({ dataset }) => Number(dataset.start) <= seconds);
  const before = list.querySelector('li[aria-current]');
  if (before === present) return;
  before?.removeAttribute('aria-current');
  present?.setAttribute('aria-current', 'true');
  if (!present || list.scrollHeight <= list.clientHeight) return;
  const middle = present.offsetTop - list.offsetTop - (list.clientHeight - present.offsetHeight) / 2;
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  list.scrollTo({ top: middle, behavior: isStill ? 'auto' : 'smooth' });
}

/**
 * Tells all players on the page that one started, so that the others pause.
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
