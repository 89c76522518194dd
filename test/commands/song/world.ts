import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import type { Job } from '../../../src/core/job.ts';
import { type ActionButton, type Message, parseActionId } from '../../../src/core/message.ts';
import type { RawOptions } from '../../../src/core/options.ts';
import { createBotOn } from '../../core/bot-on-world.ts';
import { createWorld, songCallback, type World } from '../../jobs/world.ts';

/** The bot with real storage and a scripted gateway. */
export interface Studio extends AsyncDisposable {
  readonly world: World;
  readonly bot: Bot;
  ask(command: string, options?: RawOptions, more?: Partial<Invocation>): Promise<Outcome>;
  /** Presses a button of a message by its label. */
  press(message: Message, label: string, more?: Partial<Invocation>): Promise<Outcome>;
  /** Presses a button that opens a form, and submits it with its initial values and `values`. */
  fill(message: Message, label: string, values?: RawOptions, more?: Partial<Invocation>): Promise<Outcome>;
  /** Plays the gateway's part for accepted work, and resolves to the final message. */
  finish(outcome: Outcome): Promise<Message>;
  /** The job of accepted work. */
  stored(outcome: Outcome): Promise<Job>;
}

export const MODERATOR = { id: 'mod', displayName: 'Mod', moderator: true, roles: [] };
export const BOB = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };

export async function openStudio(): Promise<Studio> {
  const world = await createWorld();
  let events = 0;
  const bot = createBotOn(world);
  const studio: Studio = {
    world,
    bot,
    ask: (command, options = {}, more = {}) =>
      bot.run({
        id: `event-${++events}`,
        command,
        options,
        address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
        person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
        ...more,
      }),
    press: (message, label, more) => {
      const { command, action, job, index } = buttonOf(message, label);
      return studio.ask(command, {}, { action: { name: action, job, index }, ...more });
    },
    async fill(message, label, values = {}, more) {
      const opened = await studio.press(message, label, more);
      if (opened.type !== 'form') throw new Error(`No form: ${JSON.stringify(opened)}`);
      const { id, initial } = opened.form;
      const options = { ...initial, ...values };
      const target = parseActionId(id);
      if (!target) return studio.ask(id, options, more);
      const { command, action, job, index } = target;
      return studio.ask(command, options, { action: { name: action, job, index }, isForm: true, ...more });
    },
    async stored(outcome) {
      if (outcome.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(outcome)}`);
      return world.read(outcome.job);
    },
    async finish(outcome) {
      const { id } = await studio.stored(outcome);
      await world.advance(id);
      for (let round = 0; round < 3; round += 1) {
        const job = await world.read(id);
        if (job.state !== 'waiting') break;
        await world.callback(id, callbackFor(job));
        await world.advance(id);
      }
      const { posted, state } = await world.read(id);
      const message = world.platform.shown.get(String(posted?.id));
      if (!message || state === 'waiting') throw new Error(`The job is ${state}`);
      return message;
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
  return studio;
}

export function labelsOf({ actions = [] }: Message): string[] {
  return actions.map(({ label }) => label);
}

/** The text of a private message. */
export function privateText(outcome: Outcome): string {
  if (outcome.type !== 'message' || outcome.visibility !== 'person')
    throw new Error(`Not private: ${JSON.stringify(outcome)}`);
  return outcome.message.text ?? '';
}

function buttonOf({ actions = [] }: Message, label: string) {
  const button = actions.find(
    (action): action is ActionButton => action.type === 'action' && action.label === label,
  );
  const reference = button && parseActionId(button.id);
  if (reference) return reference;
  throw new Error(`No button ${label}. Buttons: ${labelsOf({ actions }).join(', ')}`);
}

/** A callback in the public API's format. */
function callbackFor({ work, lyrics, taskId = 'task' }: Job): object {
  const data = (rest: object) => ({
    code: 200,
    msg: 'ok',
    data: { callbackType: 'complete', task_id: taskId, ...rest },
  });
  if (lyrics === 'sent') return data({ data: [{ title: 'Rain', text: '[Verse]\nWritten first' }] });
  switch (work.route) {
    case 'music.generateLyrics':
      return data({
        data: [
          { title: 'Drip', text: '[Verse]\nDrip drop' },
          { title: 'Pour', text: '[Chorus]\nLet it pour' },
        ],
      });
    case 'music.generateCover':
      return data({ images: ['https://gateway.example/a.png', 'https://gateway.example/b.png'] });
    case 'music.vocalRemoval':
      return data({
        vocal_removal_info: Object.fromEntries(
          (work.request.type === 'split_stem'
            ? ['synth', 'drums', 'theremin', 'bass', 'vocal', 'backing_vocals']
            : ['instrumental', 'vocal']
          ).map((stem) => [`${stem}_url`, `https://gateway.example/${stem}.mp3`]),
        ),
      });
    case 'music.wavGenerate':
      return data({ audioWavUrl: 'https://gateway.example/song.wav' });
    case 'music.mp4Generate':
      return data({ video_url: 'https://gateway.example/song.mp4' });
    default:
      return songCallback('complete', taskId);
  }
}
