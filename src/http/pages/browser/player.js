/** The players of a song's takes: the browser's own player gives its sound, the page its buttons. */
import { begin, clockTime, find, pauseForOthers, showLine, showPosition } from './elements.js';
import { listenToKeys, takeKeys } from './session.js';

/** The words follow at this interval, in milliseconds: `timeupdate` comes four times a second. */
const FOLLOW_MS = 100;

/** @param {HTMLElement} card */
function enhance(card) {
  const audio = find(card, 'audio', HTMLAudioElement);
  const controls = find(card, '.controls', HTMLElement);
  const play = find(controls, '.play', HTMLButtonElement);
  const seek = find(controls, '.seek', HTMLInputElement);
  const time = find(controls, '.time', HTMLElement);
  const speed = find(controls, 'select', HTMLSelectElement);
  const name = (play.getAttribute('aria-label') ?? '').replace(/^Play /, '');
  const take = Number(card.dataset.take);
  let dragging = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let following;

  const show = () => {
    showPosition(seek, time, dragging ? Number(seek.value) : audio.currentTime);
    showLine(take, audio.currentTime);
  };
  const showState = () => {
    play.classList.toggle('playing', !audio.paused);
    play.setAttribute('aria-label', `${audio.paused ? 'Play' : 'Pause'} ${name}`);
    clearInterval(following);
    if (!audio.paused) following = setInterval(show, FOLLOW_MS);
  };
  const showLength = () => {
    if (!Number.isFinite(audio.duration)) return;
    seek.max = String(audio.duration);
    find(controls, '.length', HTMLElement).textContent = clockTime(audio.duration);
    show();
  };

  play.addEventListener('click', () => {
    if (!audio.paused) return audio.pause();
    // A file that is gone says so by an error event.
    void audio.play().catch(() => undefined);
  });
  audio.addEventListener('play', () => {
    begin(audio);
    takeKeys(audio, document.title);
    for (const list of document.querySelectorAll('ol[data-words]'))
      if (list instanceof HTMLElement) list.hidden = list.dataset.words !== card.dataset.take;
  });
  pauseForOthers(audio, () => audio.pause());
  for (const event of ['play', 'pause', 'ended']) audio.addEventListener(event, showState);
  for (const event of ['timeupdate', 'seeked']) audio.addEventListener(event, show);
  for (const event of ['loadedmetadata', 'durationchange']) audio.addEventListener(event, showLength);
  const showError = () => {
    time.textContent = "This file can't be played. Reload the page and try again.";
  };
  audio.addEventListener('error', showError);
  seek.addEventListener('input', () => {
    dragging = true;
    show();
  });
  seek.addEventListener('change', () => {
    dragging = false;
    audio.currentTime = Number(seek.value);
  });
  speed.addEventListener('change', () => {
    // Every browser keeps the pitch: https://developer.mozilla.org/docs/Web/API/HTMLMediaElement/preservesPitch
    audio.playbackRate = Number(speed.value);
  });

  audio.controls = false;
  controls.hidden = false;
  // What happened before this module was there.
  if (audio.readyState > 0) showLength();
  if (audio.error) showError();
  showState();
}

/** Pressing a line plays from there. */
function followLines() {
  for (const list of document.querySelectorAll('ol[data-words]')) {
    if (!(list instanceof HTMLElement)) continue;
    list.classList.add('live');
    // It may scroll, which has to work by keyboard too.
    list.tabIndex = 0;
    list.addEventListener('click', (event) => {
      const line = event.target instanceof Element ? event.target.closest('li') : null;
      const audio = document.querySelector(`[data-take="${list.dataset.words}"] audio`);
      if (!line || !(audio instanceof HTMLAudioElement)) return;
      audio.currentTime = Number(line.dataset.start);
      void audio.play().catch(() => undefined);
    });
  }
  // Those of the first take, until another plays.
  const [, ...others] = document.querySelectorAll('ol[data-words]');
  for (const list of others) if (list instanceof HTMLElement) list.hidden = true;
}

for (const card of document.querySelectorAll('[data-take]')) if (card instanceof HTMLElement) enhance(card);
followLines();
const [first] = document.querySelectorAll('.take audio');
if (first instanceof HTMLAudioElement) listenToKeys(first);
