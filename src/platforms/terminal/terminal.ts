/** The platform of one person at one terminal: for the demo, and for a start without any settings. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from '../../command.ts';
import type { Message } from '../../message.ts';
import {
  type Bot,
  type MediaReader,
  type MessageStream,
  type Platform,
  PlatformError,
  type PlatformStatus,
  type Posted,
  type ShowOptions,
} from '../platform.ts';
import { createFileFolder } from './files.ts';
import { HERE } from './person.ts';
import { createPosts } from './posts.ts';
import { type InputEnd, openPrompt, type Prompt, type TerminalInput } from './prompt.ts';
import { createScreen, type TerminalOutput } from './screen.ts';
import { createSession, type Session } from './session.ts';
import { createStyle } from './style.ts';

export interface TerminalOptions {
  /** Where lines are typed; without it there is no prompt, and only {@link Terminal.play} runs commands. */
  readonly input?: TerminalInput;
  readonly output: TerminalOutput;
  /** Where media is saved, under the names that people see. Made when the first file comes. */
  readonly folder: string;
  readonly media: Pick<MediaReader, 'open'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A new id for an invocation, never used before, at most 25 characters. */
  readonly newId: () => string;
  /** Whether to use colours; left out, the output is asked, which knows of NO_COLOR. */
  readonly colour?: boolean;
  /** How a job ended; undefined while it runs. Only {@link Terminal.play} asks. */
  readonly jobOutcome?: (job: string) => Promise<'delivered' | 'failed' | undefined>;
  /** The person typed `exit`, or there is nothing more to read. */
  readonly onEnd?: (end: InputEnd) => void;
}

export interface Terminal extends Platform {
  /** Runs a line as if it had been typed, and resolves when what came of it stands. `start` comes first. */
  play(line: string): Promise<'delivered' | 'failed'>;
  /** Prints a plain text above the prompt, and above what changes. */
  announce(text: string): void;
}

/** Fast enough to look alive, slow enough for a remote terminal. In milliseconds. */
const TICK_MS = 250;
const STREAM_MS = 50;
const OUTCOME_MS = 25;

export function createTerminal(options: TerminalOptions): Terminal {
  const { output, now } = options;
  const changing = output.isTTY === true;
  const style = createStyle(options.colour ?? (changing && output.hasColors?.() === true));
  const screen = createScreen(output);
  const folder = createFileFolder(options.folder, options.media);
  const posts = createPosts({ screen, style, folder, now, changing });

  let session: Session | undefined;
  let prompt: Prompt | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Lines run one after the other, so that answers stand in the order of questions. */
  let lines = Promise.resolve();
  /** Steps of one post never run side by side. */
  const steps = new Map<string, Promise<unknown>>();

  // A pipe that was closed at its other end.
  output.on('error', () => {
    isClosed = true;
  });

  function assertHere(address: Address): void {
    if (isClosed) throw new PlatformError('gone', 'The terminal is closed');
    if (address.platform !== HERE.platform || address.channel !== HERE.channel)
      throw new PlatformError('gone', 'There is only one place in a terminal');
  }

  function inOrder<Result>(key: string, step: () => Promise<Result>): Promise<Result> {
    const result = (steps.get(key) ?? Promise.resolve()).then(step);
    const settled = result.catch(() => {});
    steps.set(key, settled);
    void settled.then(() => {
      if (steps.get(key) === settled) steps.delete(key);
    });
    return result;
  }

  async function show(address: Address, message: Message, showOptions: ShowOptions): Promise<Posted> {
    assertHere(address);
    return inOrder(showOptions.key, () => posts.show(message, showOptions));
  }

  function stream(address: Address, showOptions: ShowOptions): MessageStream {
    let newest: Message | undefined;
    let timer: NodeJS.Timeout | undefined;
    return {
      update(message) {
        newest = message;
        timer ??= setTimeout(() => {
          timer = undefined;
          if (newest && !isClosed) posts.showGrowing(newest, showOptions);
        }, STREAM_MS);
      },
      async close(message) {
        clearTimeout(timer);
        newest = undefined;
        return show(address, message, showOptions);
      },
    };
  }

  async function whisper(address: Address, message: Message): Promise<void> {
    assertHere(address);
    await posts.say('Minstrel, to you alone', message);
  }

  function runTyped(line: string): void {
    if (/^\/?(exit|quit)$/i.test(line.trim())) {
      prompt?.close();
      options.onEnd?.('asked');
      return;
    }
    lines = lines.then(async () => {
      await session?.run(line);
    });
    // Only a screen that is gone makes a line fail, and nobody is left to be told.
    lines = lines.catch(() => {});
  }

  return {
    name: HERE.platform,

    async start(bot: Bot) {
      session = createSession({
        bot,
        newId: options.newId,
        whisper: (message) => whisper(HERE, message),
        post: async (key, message) => {
          await show(HERE, message, { key, remember: async () => {} });
        },
        action: posts.action,
        ask: (question) => prompt?.ask(question) ?? Promise.resolve(undefined),
        interactive: () => prompt?.interactive === true,
      });
      if (changing) ticking ??= setInterval(posts.tick, TICK_MS).unref();
      if (options.input) {
        prompt = openPrompt({
          input: options.input,
          output,
          screen,
          onLine: runTyped,
          onEnd: (end) => {
            void lines.then(() => options.onEnd?.(end));
          },
          complete: (line) => session?.complete(line) ?? Promise.resolve([[], line]),
        });
      }
    },

    async stop() {
      prompt?.close();
      await lines;
    },

    async close() {
      prompt?.close();
      clearInterval(ticking);
      screen.setLive([]);
      isClosed = true;
    },

    status(): PlatformStatus {
      return isClosed ? { ready: false, reason: 'the terminal is closed' } : { ready: true };
    },

    show,
    stream,
    whisper,
    attachmentHeaders: () => ({}),

    announce: posts.announce,

    async play(line) {
      const { jobOutcome } = options;
      if (!session || !jobOutcome) throw new Error('play needs jobOutcome, and comes after start');
      screen.print(`\n${style('bold', '›')} ${line}`);
      const ran = await session.run(line);
      if (ran.type !== 'accepted') return ran.type === 'said' && !ran.refused ? 'delivered' : 'failed';
      for (;;) {
        const outcome = await jobOutcome(ran.job);
        if (outcome) return outcome;
        if (isClosed) return 'failed';
        await delay(OUTCOME_MS);
      }
    },
  };
}
