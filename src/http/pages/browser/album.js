/** The page of a channel's songs: plays them one after another. */
import { clockTime, find, findAll } from './elements.js';
import { handleKeys, handleMediaKeys, showInSystem } from './session.js';

const cards = findAll(document, '.songs li', HTMLElement);
const all = document.querySelector('button.all');
if (all instanceof HTMLButtonElement) enable(all);

/** @param {HTMLButtonElement} playAll */
function enable(playAll) {
  const bar = find(document, '.bar', HTMLElement);
  const audio = find(bar, 'audio', HTMLAudioElement);
  const play = find(bar, '.play', HTMLButtonElement);
  const slider = find(bar, '.slider', HTMLInputElement);
  const time = find(bar, '.time', HTMLElement);
  const length = find(bar, '.length', HTMLElement);
  const status = find(bar, '.status', HTMLElement);
  const thumb = find(bar, '.thumb', HTMLImageElement);
  const title = find(bar, '.title', HTMLAnchorElement);
  /** @type {HTMLElement | undefined} */
  let current;
  let dragging = false;
  /** The number of songs in a row that could not be played. */
  let failures = 0;

  const titleOf = (/** @type {HTMLElement} */ card) => find(card, '.title', HTMLAnchorElement);
  const lengthText = () =>
    current?.dataset.length || (audio.duration > 0 ? clockTime(Math.round(audio.duration)) : '');
  const neighbour = (/** @type {number} */ step) =>
    current === undefined ? undefined : cards[cards.indexOf(current) + step];

  const showPosition = () => {
    const total = Number(slider.max);
    const seconds = dragging ? Number(slider.value) : audio.currentTime;
    if (!dragging) slider.value = String(seconds);
    const text = total > 0 && seconds >= total ? lengthText() : clockTime(seconds);
    slider.style.setProperty('--level', `${total > 0 ? (100 * seconds) / total : 0}%`);
    slider.setAttribute('aria-valuetext', `${text} of ${lengthText()}`);
    time.textContent = text;
  };
  const showLength = () => {
    slider.max = String(Number.isFinite(audio.duration) ? audio.duration : 0);
    length.textContent = lengthText();
    showPosition();
  };
  const showState = () => {
    const playing = !audio.paused;
    const verb = playing ? 'Pause' : 'Play';
    play.classList.toggle('playing', playing);
    play.setAttribute('aria-label', `${verb} ${current ? titleOf(current).textContent : ''}`);
    find(playAll, 'span', HTMLElement).textContent = playing ? 'Pause' : 'Play all';
    playAll.querySelector('use')?.setAttribute('href', playing ? '#pause' : '#play');
    for (const card of cards) {
      const isPlaying = playing && card === current;
      card.classList.toggle('current', card === current);
      find(card, '.play', HTMLButtonElement).setAttribute('aria-label', isPlaying ? 'Pause' : 'Play');
      card.querySelector('use')?.setAttribute('href', isPlaying ? '#pause' : '#play');
    }
    showPosition();
  };
  const showSong = (/** @type {HTMLElement} */ card) => {
    const link = titleOf(card);
    const cover = card.querySelector('img')?.src;
    const artist = find(card, '.by bdi', HTMLElement).textContent;
    title.href = link.href;
    title.textContent = link.textContent;
    find(bar, '.by', HTMLElement).textContent = artist;
    if (cover) thumb.src = cover;
    thumb.hidden = !cover;
    bar.hidden = false;
    find(bar, '.previous', HTMLButtonElement).disabled = neighbour(-1) === undefined;
    find(bar, '.next', HTMLButtonElement).disabled = neighbour(1) === undefined;
    showInSystem({ title: link.textContent, artist, album: document.title, cover });
  };
  const start = (/** @type {HTMLElement | undefined} */ card) => {
    if (!card) return;
    current = card;
    audio.src = card.dataset.src ?? '';
    showSong(card);
    showLength();
    // A missing file triggers an error event.
    void audio.play().catch(() => undefined);
  };
  const session = {
    play: () => (current ? audio.play().catch(() => undefined) : start(cards[0])),
    pause: () => audio.pause(),
    toggle: () => void (audio.paused ? session.play() : session.pause()),
    seek: (/** @type {number} */ seconds) => {
      audio.currentTime = seconds;
    },
    position: () => audio.currentTime,
    next: () => start(neighbour(1)),
    previous: () => start(neighbour(-1)),
  };

  // After the last song, it starts again with the first.
  playAll.addEventListener('click', () => (audio.ended ? start(cards[0]) : session.toggle()));
  for (const card of cards)
    find(card, '.play', HTMLButtonElement).addEventListener('click', () =>
      card === current ? session.toggle() : start(card),
    );
  play.addEventListener('click', session.toggle);
  find(bar, '.next', HTMLButtonElement).addEventListener('click', session.next);
  find(bar, '.previous', HTMLButtonElement).addEventListener('click', session.previous);
  for (const event of ['play', 'pause']) audio.addEventListener(event, showState);
  for (const event of ['timeupdate', 'seeked']) audio.addEventListener(event, showPosition);
  for (const event of ['loadedmetadata', 'durationchange']) audio.addEventListener(event, showLength);
  audio.addEventListener('playing', () => {
    failures = 0;
    status.textContent = '';
  });
  audio.addEventListener('ended', session.next);
  audio.addEventListener('error', () => {
    failures += 1;
    status.textContent = `${title.textContent} can't be played. Reload the page and try again.`;
    // Another song may still be there.
    if (failures < cards.length) session.next();
  });
  slider.addEventListener('input', () => {
    dragging = true;
    showPosition();
  });
  slider.addEventListener('change', () => {
    audio.currentTime = Number(slider.value);
    dragging = false;
  });
  handleMediaKeys(session);
  handleKeys(session);
}
