/** The platform of one person at one terminal: for the demo, and for a start without any settings. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bot } from '../../core/bot/bot.ts';
import type { Address } from '../../core/invocation.ts';
import type { Message } from '../../core/message.ts';
import type { System } from '../../core/system.ts';
import {
  type MediaReader,
  type MessageStream,
  type Platform,
  PlatformError,
  type PlatformStatus,
  type Posted,
  type ShowOptions,
} from '../platform.ts';
import { createRenderThread } from '../shared/render-thread/host.ts';
import { fileSaver } from './deliver/files.ts';
import { createPosts } from './deliver/posts.ts';
import { createScreen, type TerminalOutput } from './deliver/screen.ts';
import { type InputEnd, openPrompt, type Prompt, type TerminalInput } from './receive/prompt.ts';
import { createSession, HERE, type Session } from './receive/session.ts';
import { createTerminalText, terminalTextPlainly } from './render/markdown.ts';
import { createStyle } from './render/style.ts';

export interface TerminalOptions extends Pick<System, 'now' | 'newId' | 'log'> {
  /** Source of typed lines; without it there is no prompt, and only {@link Terminal.play} runs commands. */
  readonly input?: TerminalInput;
  readonly output: TerminalOutput;
  /** Media is saved here under the names that people see. Created with the first file. */
  readonly folder: string;
  readonly media: Pick<MediaReader, 'open'>;
  /** Whether to use colours; left out, the output is asked, which knows of NO_COLOR. */
  readonly colour?: boolean;
  /** How a job ended; undefined while it runs. Only for {@link Terminal.play}. */
  readonly jobOutcome?: (job: string) => Promise<'delivered' | 'failed' | undefined>;
  /** The person typed `exit`, or there is nothing more to read. */
  readonly onEnd?: (end: InputEnd) => void;
}

export interface Terminal extends Platform {
  /** Runs a line as if it had been typed, and resolves when its result is shown. `start` comes first. */
  play(line: string): Promise<'delivered' | 'failed'>;
  /** Prints a plain text above the prompt, and above the lines that change. */
  announce(text: string): void;
}

/** Often enough to seem alive, rarely enough for a remote terminal. In milliseconds. */
const TICK_MS = 250;
const STREAM_MS = 50;
const OUTCOME_MS = 25;

const UNFINISHED_SENTENCE = 'Stopped. The next start takes up what was being made.';

export function createTerminal(options: TerminalOptions): Terminal {
  const { output, now } = options;
  const changing = output.isTTY === true;
  const colour = options.colour ?? (changing && output.hasColors?.() === true);
  const style = createStyle(colour);
  const renders = createRenderThread({
    module: new URL('./render/markdown.ts', import.meta.url),
    create: createTerminalText,
    plainly: terminalTextPlainly,
    log: options.log,
  });
  const layOut = (text: string) => renders.render({ text, colour });
  const screen = createScreen(output);
  const saveFile = fileSaver(options.folder, options.media);
  const posts = createPosts({ screen, style, layOut, saveFile, now, changing });

  let session: Session | undefined;
  let prompt: Prompt | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Lines run one after the other, so that answers come in the order of questions. */
  let lines = Promise.resolve();

  // The other end of a pipe was closed.
  output.on('error', () => {
    isClosed = true;
  });

  function assertHere(address: Address): void {
    if (isClosed) throw new PlatformError('gone', 'The terminal is closed');
    if (address.platform !== HERE.platform || address.channel !== HERE.channel)
      throw new PlatformError('gone', 'A terminal has one channel only');
  }

  async function show(address: Address, message: Message, showOptions: ShowOptions): Promise<Posted> {
    assertHere(address);
    return posts.show(message, showOptions);
  }

  function stream(address: Address, showOptions: ShowOptions): MessageStream {
    let newest: (() => Message) | undefined;
    let timer: NodeJS.Timeout | undefined;
    let written = Promise.resolve();
    return {
      update(message) {
        newest = message;
        timer ??= setTimeout(() => {
          timer = undefined;
          const message = newest;
          if (message && !isClosed) written = written.then(() => posts.showGrowing(message(), showOptions));
        }, STREAM_MS);
      },
      async close(message) {
        clearTimeout(timer);
        newest = undefined;
        await written;
        return show(address, message, showOptions);
      },
    };
  }

  async function sendPrivately(address: Address, message: Message): Promise<void> {
    assertHere(address);
    await posts.say('Minstrel, to you alone', message);
  }

  function runTyped(line: string): Promise<void> {
    if (/^\/?(exit|quit)$/i.test(line.trim())) {
      prompt?.close();
      options.onEnd?.('asked');
      return Promise.resolve();
    }
    // A line fails only when the screen is gone.
    lines = lines.then(async () => void (await session?.run(line))).catch(() => {});
    return lines;
  }

  return {
    name: HERE.platform,

    async start(bot: Bot) {
      session = createSession({
        bot,
        newId: options.newId,
        sendPrivately: (message) => sendPrivately(HERE, message),
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
          help: async () => void (await session?.run('help')),
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
      if (posts.hasUnfinished()) posts.announce(UNFINISHED_SENTENCE);
      renders.close();
      isClosed = true;
    },

    status(): PlatformStatus {
      return isClosed ? { ready: false, reason: 'the terminal is closed' } : { ready: true };
    },

    show,
    stream,
    // One process prints, and what is printed stays.
    retract: async () => undefined,
    sendPrivately,
    attachmentHeaders: () => ({}),

    announce: posts.announce,

    async play(line) {
      const { jobOutcome } = options;
      if (!session || !jobOutcome) throw new Error('play needs jobOutcome, and comes after start');
      screen.print(`\n${style('bold', '›')} ${line}`);
      const ran = await session.run(line);
      if (typeof ran === 'string') return ran === 'answered' ? 'delivered' : 'failed';
      for (;;) {
        const outcome = await jobOutcome(ran.job);
        if (outcome) return outcome;
        if (isClosed) return 'failed';
        await delay(OUTCOME_MS);
      }
    },
  };
}
