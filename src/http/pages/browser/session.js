/** Playback controls on the keyboard, headphones and lock screen. */

const STEP_SECONDS = 5;
/** Elements that handle keys themselves. */
const INTERACTIVE = 'a, button, input, select, summary, textarea, audio, video, [tabindex]';

/** @type {HTMLAudioElement | undefined} */
let latest;

/**
 * Connects media keys to this player, and shows its song in the system's media controls.
 * @param {HTMLAudioElement} audio
 * @param {string} album the song's title; the player's label is the take
 */
export function claimMediaKeys(audio, album) {
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
 * The space bar plays and pauses and the arrow keys seek, unless an element handles the key.
 * @param {HTMLAudioElement} first the player to control until another has played
 */
export function handleKeys(first) {
  document.addEventListener('keydown', (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (
      altKey ||
      ctrlKey ||
      metaKey ||
      shiftKey ||
      (target instanceof Element && target.closest(INTERACTIVE))
    )
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
