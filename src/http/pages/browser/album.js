/** The page of a channel's songs: plays them one after another. */
import { createControls, soundOf } from './controls.js';
import { find, findAll } from './elements.js';
import { handleKeys, handleMediaKeys, showInSystem } from './session.js';

const cards = findAll(document, '.songs li', HTMLElement);
const playAll = find(document, 'button.all', HTMLButtonElement);
const playAllLabel = find(playAll, 'span', HTMLElement);
/** The label while nothing plays, for one song or several. */
const playLabel = playAllLabel.textContent;
const bar = find(document, '.bar', HTMLElement);
const audio = find(bar, 'audio', HTMLAudioElement);
const status = find(bar, '.status', HTMLElement);
const thumb = find(bar, '.thumb', HTMLImageElement);
const title = find(bar, '.title', HTMLAnchorElement);
const sound = soundOf(audio);
/** @type {HTMLElement | undefined} */
let current;
/** The number of songs in a row that could not be played. */
let failures = 0;

const controls = createControls(bar, [audio], () => ({
  name: title.textContent,
  length: current?.dataset.length ?? '',
  audio,
  sound,
}));
const neighbour = (/** @type {number} */ step) =>
  current === undefined ? undefined : cards[cards.indexOf(current) + step];

function showPlaying() {
  playAll.classList.toggle('playing', sound.playing);
  playAllLabel.textContent = sound.playing ? 'Pause' : playLabel;
  for (const card of cards) {
    const isPlaying = sound.playing && card === current;
    const play = find(card, '.play', HTMLButtonElement);
    card.classList.toggle('current', card === current);
    play.classList.toggle('playing', isPlaying);
    play.setAttribute('aria-label', isPlaying ? 'Pause' : 'Play');
  }
}

/** @param {HTMLElement} card */
function showSong(card) {
  const link = find(card, '.title', HTMLAnchorElement);
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
}

/** @param {HTMLElement | undefined} card */
function start(card) {
  if (!card) return;
  current = card;
  audio.src = card.dataset.src ?? '';
  showSong(card);
  controls.show();
  void sound.play();
}

const session = {
  play: () => (current ? sound.play() : start(cards[0])),
  pause: sound.pause,
  toggle: () => void (sound.playing ? sound.pause() : session.play()),
  seek: sound.seek,
  position: sound.position,
  next: () => start(neighbour(1)),
  previous: () => start(neighbour(-1)),
};

// After the last song, it starts again with the first.
playAll.addEventListener('click', () => (audio.ended ? start(cards[0]) : session.toggle()));
for (const card of cards)
  find(card, '.play', HTMLButtonElement).addEventListener('click', () =>
    card === current ? session.toggle() : start(card),
  );
find(bar, '.play', HTMLButtonElement).addEventListener('click', session.toggle);
find(bar, '.next', HTMLButtonElement).addEventListener('click', session.next);
find(bar, '.previous', HTMLButtonElement).addEventListener('click', session.previous);
for (const event of ['play', 'pause']) audio.addEventListener(event, showPlaying);
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
handleMediaKeys(session);
handleKeys(session);
