/** Full-screen karaoke: large lyrics above the player, without vocals if the take has stems. */
import { find } from './elements.js';
import { centreLine } from './lyrics.js';

/**
 * @param {import('./player.js').Player} player
 * @param {import('./mixer.js').Mixers} mixers
 */
export function enableKaraoke(player, mixers) {
  const open = document.querySelector('button.sing');
  if (!(open instanceof HTMLButtonElement)) return;
  const stage = find(document, 'dialog.stage', HTMLDialogElement);
  const screen = find(stage, '.screen', HTMLElement);
  const vocals = find(stage, '.vocals', HTMLButtonElement);
  const status = find(stage, '.status', HTMLElement);
  const section = find(document, '.words', HTMLElement);
  /** Callbacks that return the lyrics and controls to the page. @type {(() => void)[]} */
  let putBack = [];

  const report = (/** @type {string} */ sentence) => {
    status.textContent = sentence;
  };
  /** @param {Element} moved @param {Element} place */
  const move = (moved, place) => {
    const mark = document.createComment('');
    moved.replaceWith(mark);
    place.append(moved);
    putBack.push(() => mark.replaceWith(moved));
  };
  const putAllBack = () => {
    for (const back of putBack.toReversed()) back();
    putBack = [];
  };
  const showVocals = (/** @type {boolean} */ on) => vocals.setAttribute('aria-pressed', String(on));
  const setVocals = async (/** @type {boolean} */ on) => {
    vocals.ariaBusy = 'true';
    const mixer = await mixers.open(report);
    vocals.ariaBusy = 'false';
    if (!mixer) return;
    // It may have been closed while the stems were loading.
    if (!stage.open) return void leaveMix();
    mixer.setVocals(on);
    showVocals(on);
  };
  const leaveMix = async () => {
    const { number, sound, file } = player.take;
    if (sound === file) return;
    (await mixers.open(report))?.setVocals(true);
    if (mixers.sectionOf(number)?.hidden) await mixers.close();
  };

  open.addEventListener('click', () => {
    stage.showModal();
    for (const list of section.querySelectorAll('ol')) move(list, find(stage, '.lines', HTMLElement));
    move(player.bar, find(stage, '.deck', HTMLElement));
    // If the browser has no full screen or refuses it, the dialog fills the window.
    void screen.requestFullscreen?.().catch(() => undefined);
    vocals.hidden = !mixers.hasVocals(player.take.number);
    showVocals(true);
    const list = stage.querySelector('ol:not([hidden])');
    if (list instanceof HTMLElement) centreLine(list);
    find(player.bar, '.play', HTMLButtonElement).focus();
    if (!player.take.sound.playing) void player.play();
    if (!vocals.hidden) void setVocals(false);
  });
  vocals.addEventListener('click', () => {
    if (vocals.ariaBusy !== 'true') void setVocals(vocals.getAttribute('aria-pressed') !== 'true');
  });
  find(stage, '.leave', HTMLButtonElement).addEventListener('click', () => stage.close());
  addEventListener('beforeprint', () => {
    putAllBack();
    stage.close();
  });
  document.addEventListener('fullscreenchange', () => {
    const isFull = document.fullscreenElement !== null;
    // Karaoke may have been closed before full screen began.
    if (isFull && !stage.open) void document.exitFullscreen();
    if (!isFull && stage.open) stage.close();
    // Elements outside cannot be focused before full screen has ended.
    if (!isFull && !stage.open) open.focus();
  });
  stage.addEventListener('close', () => {
    putAllBack();
    report('');
    void leaveMix();
    const list = section.querySelector('ol:not([hidden])');
    if (list instanceof HTMLElement) centreLine(list);
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    open.focus();
  });
}
