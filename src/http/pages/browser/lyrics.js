/** Lyrics that follow the music. Clicking a line plays from there. */
import { findAll } from './elements.js';

/** @param {import('./player.js').Player} player */
export function followLyrics(player) {
  const lists = findAll(document, 'ol[data-words]', HTMLOListElement);
  const ofTake = () => lists.find(({ dataset }) => Number(dataset.words) === player.take.number);

  const showList = () => {
    // All takes have the same words, so a take without synced lyrics shows another's.
    const shown = ofTake() ?? lists[0];
    for (const list of lists) {
      list.hidden = list !== shown;
      list.classList.toggle('live', list === ofTake());
      if (list !== ofTake()) mark(list, undefined);
    }
  };
  for (const list of lists) {
    // Makes the list scrollable by keyboard.
    list.tabIndex = 0;
    list.addEventListener('click', async ({ target }) => {
      const line = target instanceof Element ? target.closest('li') : null;
      if (!line || list !== ofTake()) return;
      await player.seek(Number(line.dataset.start));
      if (player.take.sound.playing) return;
      await player.play();
      // Playing shortened the list.
      list.scrollIntoView({ block: 'nearest' });
    });
  }
  player.events.addEventListener('choose', showList);
  player.events.addEventListener('move', () => {
    const list = ofTake();
    const { sound } = player.take;
    const seconds = player.position();
    // Before the first play, all lines look the same.
    if (list && (sound.playing || seconds > 0)) mark(list, seconds);
    // All lines are shown while nothing plays.
    for (const each of lists) {
      const plays = each === list && sound.playing;
      if (plays === each.classList.contains('playing')) continue;
      each.classList.toggle('playing', plays);
      centreLine(each);
    }
  });
  // Lines break differently, as after a phone is turned.
  addEventListener('resize', () => lists.forEach(centreLine));
  showList();
}

/**
 * Highlights the line at a position, and scrolls it to the middle if the list overflows.
 * @param {HTMLElement} list
 * @param {number | undefined} seconds
 */
function mark(list, seconds) {
  const lines = findAll(list, 'li', HTMLElement);
  const current =
    seconds === undefined ? undefined : lines.findLast(({ dataset }) => Number(dataset.start) <= seconds);
  list.classList.toggle('following', seconds !== undefined);
  const previous = list.querySelector('li[aria-current]');
  if (previous === (current ?? null)) return;
  previous?.removeAttribute('aria-current');
  current?.setAttribute('aria-current', 'true');
  if (current) scrollTo(list, current);
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement} line
 * @param {ScrollBehavior} [behavior]
 */
function scrollTo(list, line, behavior = 'smooth') {
  if (list.scrollHeight <= list.clientHeight) return;
  const top = line.offsetTop - (list.clientHeight - line.offsetHeight) / 2;
  const isReduced = matchMedia('(prefers-reduced-motion: reduce)').matches;
  list.scrollTo({ top, behavior: isReduced ? 'auto' : behavior });
}

/** Scrolls to the current line at once, after the list's place or size has changed. @param {HTMLElement} list */
export function centreLine(list) {
  const line = list.querySelector('li[aria-current]');
  if (line instanceof HTMLElement) scrollTo(list, line, 'auto');
}
