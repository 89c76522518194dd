/** The song's player: one set of controls for the chosen take, which plays as a file or as a mix of its stems. */
import { createControls, soundOf } from './controls.js';
import { find, findAll } from './elements.js';
import { createWave, loadLevels } from './wave.js';

/** @typedef {import('./controls.js').Sound} Sound */
/**
 * @typedef {import('./controls.js').Playing & {
 *   readonly number: number,
 *   readonly file: Sound,
 *   levels?: Promise<ArrayLike<number>>,
 * }} Take
 */

/** @param {HTMLElement} root */
export function createPlayer(root) {
  const bar = find(root, '.controls', HTMLElement);
  const play = find(bar, '.play', HTMLButtonElement);
  const seek = find(bar, '.seek', HTMLInputElement);
  const status = find(root, '.status', HTMLElement);
  const speed = find(document, '.speed select', HTMLSelectElement);
  const wave = createWave(find(bar, '.wave', HTMLElement));
  const choices = findAll(root, 'input[name=take]', HTMLInputElement);
  const audios = findAll(root, 'audio[data-take]', HTMLAudioElement);
  const takes = audios.map((audio) => {
    const { take: number, name = '', length = '' } = audio.dataset;
    const file = soundOf(audio);
    /** @type {Take} */
    const described = { number: Number(number), name, length, audio, file, sound: file };
    return described;
  });
  const [first] = takes;
  if (!first) throw new TypeError('The page has no takes');
  let take = first;
  const events = new EventTarget();
  const notify = (/** @type {'choose' | 'move'} */ name) => events.dispatchEvent(new Event(name));
  const controls = createControls(
    bar,
    audios,
    () => take,
    (part) => {
      wave.setPlayed(part);
      notify('move');
    },
  );

  const showError = () => {
    status.textContent = take.audio.error ? "This file can't be played. Reload the page and try again." : '';
  };
  const showWave = async () => {
    const shown = take;
    shown.levels ??= loadLevels(shown.audio.src);
    wave.setLevels([]);
    // Without them, the bars stay flat.
    const levels = await shown.levels.catch(() => []);
    if (shown === take) wave.setLevels(levels);
  };
  const showSpeed = () => {
    speed.disabled = take.sound.setSpeed === undefined;
    take.sound.setSpeed?.(Number(speed.value));
  };

  const player = {
    takes,
    events,
    bar,
    get take() {
      return take;
    },
    position: () => take.sound.position(),
    async play() {
      await take.sound.play();
      controls.showState();
    },
    pause() {
      take.sound.pause();
      controls.showState();
    },
    toggle: () => (take.sound.playing ? player.pause() : void player.play()),
    /** @param {number} seconds */
    async seek(seconds) {
      await take.sound.seek(seconds);
      controls.showPosition();
    },
    /** Chooses a take, and continues to play if one is playing. @param {number} number */
    choose(number) {
      const chosen = takes.find((candidate) => candidate.number === number);
      if (!chosen || chosen === take) return;
      const { playing } = take.sound;
      take.sound.pause();
      take.sound = take.file;
      take = chosen;
      for (const choice of choices) choice.checked = Number(choice.value) === number;
      if (take.audio.preload === 'none') take.audio.preload = 'metadata';
      seek.setAttribute('aria-label', `Position in ${take.name}`);
      showSpeed();
      showError();
      controls.show();
      void showWave();
      notify('choose');
      if (playing) void player.play();
    },
    /** Plays the take through another sound from the same position: its mix, or its file again. @param {Sound} sound */
    async use(sound) {
      const changed = take;
      const { playing } = changed.sound;
      const position = changed.sound.position();
      changed.sound.pause();
      changed.sound = sound;
      await sound.seek(position);
      if (playing) await sound.play();
      showSpeed();
      controls.show();
    },
  };

  play.addEventListener('click', player.toggle);
  for (const audio of audios) audio.addEventListener('error', showError);
  speed.addEventListener('change', showSpeed);
  for (const choice of choices) choice.addEventListener('change', () => player.choose(Number(choice.value)));
  // Handles events from before this module loaded.
  showError();
  controls.show();
  void showWave();
  return player;
}

/** @typedef {ReturnType<typeof createPlayer>} Player */
