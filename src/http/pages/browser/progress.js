/** Shows the progress of a song that is being created, and reloads its page when there is more to show. */
import { find, partOf } from './elements.js';

const SHOW_MS = 1_000;
const CHECK_MS = 5_000;

const cover = find(document, '.making', HTMLElement);
/** Absent once a take can be played. */
const circle = cover.querySelector('.arc');
const elapsed = Number(cover.dataset.elapsed);
const estimate = Number(cover.dataset.estimate);
const openedAt = performance.now();

function show() {
  const part = partOf((elapsed + performance.now() - openedAt) / estimate);
  circle?.setAttribute('stroke-dasharray', `${(100 * part).toFixed(1)} 100`);
}
if (estimate > 0) {
  cover.classList.add('estimated');
  show();
  setInterval(show, SHOW_MS);
}

/** Whether the page has changed on the server, or is gone. */
async function hasChanged() {
  const response = await fetch(location.href);
  // During a restart, the response is a 502 or 503.
  if (response.status >= 500 || response.status === 429) return false;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const newer = page.querySelector('.making');
  return !(newer instanceof HTMLElement) || newer.dataset.version !== cover.dataset.version;
}

const isPlaying = () => [...document.querySelectorAll('audio')].some(({ paused }) => !paused);
async function reloadIfChanged() {
  if (document.hidden || isPlaying()) return;
  const changed = await hasChanged().catch(() => false);
  // Playback may have started in the meantime.
  if (changed && !isPlaying()) location.reload();
}
setInterval(reloadIfChanged, CHECK_MS);
document.addEventListener('visibilitychange', reloadIfChanged);
