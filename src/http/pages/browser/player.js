/** Custom controls for the takes' audio elements. */
import { begin, clockTime, find, pauseForOthers, showLine, showPosition } from './elements.js';
import { claimMediaKeys, handleKeys } from './session.js';

/** Update interval of the lyrics, in milliseconds. `timeupdate` only fires four times a second. */
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
  let timer;

  const show = () => {
    showPosition(seek, time, dragging ? Number(seek.value) : audio.currentTime);
    showLine(take, audio.currentTime);
  };
  const showState = () => {
    play.classList.toggle('playing', !audio.paused);
    play.setAttribute('aria-label', `${audio.paused ? 'Play' : 'Pause'} ${name}`);
    clearInterval(timer);
    if (!audio.paused) timer = setInterval(show, FOLLOW_MS);
  };
  const showLength = () => {
    if (!Number.isFinite(audio.duration)) return;
    seek.max = String(audio.duration);
    find(controls, '.length', HTMLElement).textContent = clockTime(audio.duration);
    show();
  };

  play.addEventListener('click', () => {
    if (!audio.paused) return audio.pause();
    // A missing file triggers an error event.
    void audio.play().catch(() => undefined);
  });
  audio.addEventListener('play', () => {
    begin(audio);
    claimMediaKeys(audio, document.title);
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
  // Handle events from before this module loaded.
  if (audio.readyState > 0) showLength();
  if (audio.error) showError();
  showState();
}

/** Clicking a line plays from there. */
function enableSeekingByLine() {
  for (const list of document.querySelectorAll('ol[data-words]')) {
    if (!(list instanceof HTMLElement)) continue;
    list.classList.add('live');
    // Makes the list scrollable by keyboard.
    list.tabIndex = 0;
    list.addEventListener('click', (event) => {
      const line = event.target instanceof Element ? event.target.closest('li') : null;
      const audio = document.querySelector(`[data-take="${list.dataset.words}"] audio`);
      if (!line || !(audio instanceof HTMLAudioElement)) return;
      audio.currentTime = Number(line.dataset.start);
      void audio.play().catch(() => undefined);
    });
  }
  // Show the first take's lyrics until another take plays.
  const [, ...otherLists] = document.querySelectorAll('ol[data-words]');
  for (const list of otherLists) if (list instanceof HTMLElement) list.hidden = true;
}

for (const card of document.querySelectorAll('[data-take]')) if (card instanceof HTMLElement) enhance(card);
enableSeekingByLine();
const [first] = document.querySelectorAll('.take audio');
if (first instanceof HTMLAudioElement) handleKeys(first);
