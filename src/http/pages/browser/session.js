/** Playback controls on the keyboard, headphones and lock screen. */

const STEP_SECONDS = 5;
/** Elements that handle keys themselves. */
const INTERACTIVE = 'a, button, input, select, summary, textarea, audio, video, [tabindex]';

/**
 * @typedef {object} Session
 * @property {() => unknown} play
 * @property {() => void} pause
 * @property {() => void} toggle
 * @property {(seconds: number) => unknown} seek
 * @property {() => number} position in seconds
 * @property {(() => void)=} next
 * @property {(() => void)=} previous
 */

/**
 * Connects media keys to a player.
 * @param {Session} session
 */
export function handleMediaKeys(session) {
  if (!('mediaSession' in navigator)) return;
  const { mediaSession } = navigator;
  const { play, pause, seek, next, previous } = session;
  mediaSession.setActionHandler('play', () => void play());
  mediaSession.setActionHandler('pause', pause);
  mediaSession.setActionHandler('seekbackward', () => seekBy(session, -STEP_SECONDS));
  mediaSession.setActionHandler('seekforward', () => seekBy(session, STEP_SECONDS));
  mediaSession.setActionHandler('seekto', ({ seekTime }) => {
    if (seekTime !== undefined) seek(seekTime);
  });
  if (next) mediaSession.setActionHandler('nexttrack', next);
  if (previous) mediaSession.setActionHandler('previoustrack', previous);
}

/**
 * Shows a song in the system's media controls.
 * @param {{ readonly title: string, readonly artist: string, readonly album: string, readonly cover: string | undefined }} song
 */
export function showInSystem({ cover, ...texts }) {
  if (!('mediaSession' in navigator)) return;
  navigator.mediaSession.metadata = new MediaMetadata({
    ...texts,
    artwork: cover === undefined ? [] : [{ src: cover }],
  });
}

/** @param {Session} session @param {number} seconds */
function seekBy({ seek, position }, seconds) {
  void seek(Math.max(0, position() + seconds));
}

/**
 * The space bar plays and pauses and the arrow keys seek, unless an element handles the key.
 * @param {Session} session
 */
export function handleKeys(session) {
  document.addEventListener('keydown', (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (altKey || ctrlKey || metaKey || shiftKey) return;
    if (target instanceof Element && target.closest(INTERACTIVE)) return;
    if (key === ' ') session.toggle();
    else if (key === 'ArrowLeft') seekBy(session, -STEP_SECONDS);
    else if (key === 'ArrowRight') seekBy(session, STEP_SECONDS);
    else return;
    event.preventDefault();
  });
}
