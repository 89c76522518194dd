/** Keys that play: those of the keyboard, of headphones, and of the lock screen, which shows what plays. */

const STEP_SECONDS = 5;
/** What has keys of its own. */
const WORKS = 'a, button, input, select, summary, textarea, audio, video, [tabindex]';

/** @type {HTMLAudioElement | undefined} */
let latest;

/**
 * Makes keys work this player, and shows its song where the system shows what plays.
 * @param {HTMLAudioElement} audio
 * @param {string} album the song's title; the player has the name of the take
 */
export function takeKeys(audio, album) {
  latest = audio;
  if (!('mediaSession' in navigator)) return;
  const { mediaSession } = navigator;
  const cover = document.querySelector('img.cover');
  const artist = document.querySelector('.by bdi')?.textContent ?? '';
  mediaSession.metadata = new MediaMetadata({
    title: audio.getAttribute('aria-label') ?? album,
    album,
    artist,
    artwork: cover instanceof HTMLImageElement ? [{ src: cover.src }] : [],
  });
  mediaSession.setActionHandler('play', () => void audio.play().catch(() => undefined));
  mediaSession.setActionHandler('pause', () => audio.pause());
  mediaSession.setActionHandler('seekbackward', () => seekBy(audio, -STEP_SECONDS));
  mediaSession.setActionHandler('seekforward', () => seekBy(audio, STEP_SECONDS));
  mediaSession.setActionHandler('seekto', ({ seekTime }) => {
    if (seekTime !== undefined) audio.currentTime = seekTime;
  });
}

/** @param {HTMLAudioElement} audio @param {number} seconds */
function seekBy(audio, seconds) {
  audio.currentTime = Math.max(0, audio.currentTime + seconds);
}

/**
 * The space bar plays and pauses, and arrows go back and forth, where nothing else takes them.
 * @param {HTMLAudioElement} first the player to use until another has played
 */
export function listenToKeys(first) {
  document.addEventListener('keydown', (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (altKey || ctrlKey || metaKey || shiftKey || (target instanceof Element && target.closest(WORKS)))
      return;
    const audio = latest ?? first;
    if (key === ' ') {
      if (audio.paused) void audio.play().catch(() => undefined);
      else audio.pause();
    } else if (key === 'ArrowLeft' || key === 'ArrowRight')
      seekBy(audio, key === 'ArrowLeft' ? -STEP_SECONDS : STEP_SECONDS);
    else return;
    event.preventDefault();
  });
}
