/** The page of a song. */
import { find, findAll } from './elements.js';
import { enableKaraoke } from './karaoke.js';
import { followLyrics } from './lyrics.js';
import { createMixers } from './mixer.js';
import { createPlayer } from './player.js';
import { handleKeys, handleMediaKeys, showInSystem } from './session.js';
import { enableSharing } from './share.js';

const player = createPlayer(find(document, '.player', HTMLElement));
const mixers = createMixers(player);
followLyrics(player);
enableKaraoke(player, mixers);
enableSharing();
handleKeys(player);
handleMediaKeys(player);

const mix = document.querySelector('button.mix');
/** @param {boolean} isOpen */
function showMixer(isOpen) {
  const chosen = mixers.sectionOf(player.take.number);
  for (const section of findAll(document, '[data-mixer]', HTMLElement))
    section.hidden = !isOpen || section !== chosen;
  mix?.setAttribute('aria-expanded', String(isOpen && chosen !== undefined));
}
/** @param {boolean} isOpen */
async function setMixer(isOpen) {
  showMixer(isOpen);
  const section = mixers.sectionOf(player.take.number);
  if (!section) return;
  if (!isOpen) return await mixers.close();
  const status = find(section, '.status', HTMLElement);
  const mixer = await mixers.open((sentence) => {
    status.textContent = sentence;
  });
  // It may have been closed while the stems were loading.
  if (mixer && section.hidden) await mixers.close();
}
const isMixerOpen = () => mix?.getAttribute('aria-expanded') === 'true';
mix?.addEventListener('click', () => void setMixer(!isMixerOpen()));

function showTake() {
  const { number, name } = player.take;
  for (const menu of findAll(document, '.downloads', HTMLDetailsElement)) {
    menu.hidden = Number(menu.dataset.for) !== number;
    menu.open = false;
  }
  if (mix instanceof HTMLButtonElement) mix.hidden = mixers.sectionOf(number) === undefined;
  if (isMixerOpen()) void setMixer(true);
  const cover = document.querySelector('img.cover');
  showInSystem({
    title: name,
    album: document.title,
    artist: find(document, '.by bdi', HTMLElement).textContent,
    cover: cover instanceof HTMLImageElement ? cover.src : undefined,
  });
}
player.events.addEventListener('choose', showTake);
showTake();

// Links from the chat open the mixer of a take.
const [, number] = /^#mixer(?:-(\d+))?$/.exec(location.hash) ?? [undefined, undefined];
if (location.hash.startsWith('#mixer')) {
  const withStems = player.takes.find((take) => mixers.sectionOf(take.number));
  player.choose(Number(number ?? withStems?.number));
  void setMixer(true).then(() => mixers.sectionOf(player.take.number)?.scrollIntoView());
}

// A menu closes with Escape or a click elsewhere.
document.addEventListener('click', ({ target }) => {
  for (const menu of findAll(document, '.downloads[open]', HTMLDetailsElement))
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
});
document.addEventListener('keydown', ({ key }) => {
  const menu = key === 'Escape' && document.querySelector('.downloads[open]');
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = false;
  find(menu, 'summary', HTMLElement).focus();
});
