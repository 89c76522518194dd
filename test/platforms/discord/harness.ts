import { type AnyCommand, defineCommand, defineSubcommand } from '../../../src/core/bot/command.ts';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Address, Invocation, SuggestRequest } from '../../../src/core/invocation.ts';
import type { MediaFile, Message } from '../../../src/core/message.ts';
import type { Choice } from '../../../src/core/options.ts';
import type { Log } from '../../../src/core/telemetry/log.ts';
import { sleep as realSleep } from '../../../src/core/util/clock.ts';
import type { WithLock } from '../../../src/core/util/lock.ts';
import {
  type DiscordOptions as AdapterOptions,
  createDiscord,
} from '../../../src/platforms/discord/adapter.ts';
import type { MediaReader, Platform, PostState, ShowOptions } from '../../../src/platforms/platform.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { type DiscordOptions, type DiscordServer, startDiscord } from '../../servers/discord/index.ts';
import { storing } from '../storing.ts';

const unused = async (): Promise<Outcome> => {
  throw new Error('The fake bot runs no command');
};

export const COMMANDS: readonly AnyCommand[] = [
  defineCommand({
    name: 'song',
    description: 'Makes a song',
    messageMenu: { label: 'Create a song from this', option: 'prompt' },
    options: {
      title: { type: 'text', description: 'Title', maximumLength: 80 },
      prompt: {
        type: 'text',
        description: 'What it is about',
        required: true,
        maximumLength: 3_000,
        multiline: true,
      },
      instrumental: { type: 'flag', description: 'Without voice' },
      voice: {
        type: 'choice',
        description: 'Who sings',
        choices: [
          { name: 'Female', value: 'f' },
          { name: 'Male', value: 'm' },
        ],
      },
      model: { type: 'text', description: 'Which model', autocomplete: true },
      start: { type: 'number', description: 'Second to begin at', minimum: 0 },
      audio: { type: 'file', description: 'A recording', accept: ['audio'], maximumBytes: 1_000_000 },
    },
    run: unused,
  }),
  defineCommand({
    name: 'ask',
    description: 'Answers',
    options: {
      question: { type: 'text', description: 'What to ask', required: true },
      image: { type: 'file', description: 'A picture', accept: ['image'], maximumBytes: 1_000_000 },
    },
    run: unused,
  }),
  defineCommand({
    name: 'models',
    description: 'Chooses models',
    options: {},
    subcommands: {
      show: defineSubcommand({ description: 'Shows them', options: {}, run: unused }),
      set: defineSubcommand({
        description: 'Sets one',
        options: {
          family: { type: 'text', description: 'Requests to limit' },
          model: {
            type: 'text',
            description: 'Which',
            required: true,
            autocomplete: true,
          },
        },
        run: unused,
      }),
    },
    moderatorsOnly: true,
    answersPrivately: true,
    run: unused,
  }),
];

/** The lock of a bot with a single replica. */
export const singleReplica: WithLock = (_task, work) =>
  work({ lost: new AbortController().signal, isHeld: () => true });

/** Records invocations and returns the answers of a test. */
export class FakeBot implements Bot {
  readonly commands = COMMANDS;
  readonly invocations: Invocation[] = [];
  readonly suggestions: SuggestRequest[] = [];
  /** Reads the conversation, as jobs do. */
  readHistory: NonNullable<Platform['readHistory']> = async () => [];
  run = async ({ history, ...request }: Invocation): Promise<Outcome> => {
    const { address, conversation: known = [] } = request;
    const conversation = [...(history ? await this.readHistory(address, history) : []), ...known];
    const invocation = request.command === 'ask' && !request.action ? { ...request, conversation } : request;
    this.invocations.push(invocation);
    return await this.answer(invocation);
  };
  /** The answer to everyone who opens a form or thread, if they are blocked. */
  refused: Message | undefined;
  refusal = async () => this.refused;
  /** Channels where every message is a question. */
  readonly talkative = new Set<string>();
  answersEveryMessage = async ({ channel }: Address) => this.talkative.has(channel);
  /** Ids of deleted messages. */
  readonly withdrawn: string[] = [];
  withdraw = async ({ id }: Pick<Invocation, 'id'>): Promise<void> => void this.withdrawn.push(id);
  home = SILENT_BOT.home;
  prompts = SILENT_BOT.prompts;
  cancelRunning = SILENT_BOT.cancelRunning;
  suggest = async (request: SuggestRequest): Promise<readonly Choice[]> => {
    this.suggestions.push(request);
    return await this.choices(request);
  };
  answer: (invocation: Invocation) => Promise<Outcome> = async () => ({
    type: 'message',
    visibility: 'person',
    message: { text: 'Done.' },
  });
  choices: (request: SuggestRequest) => Promise<readonly Choice[]> = async () => [];
}

/** Stores files in memory. */
class FakeMedia implements MediaReader {
  readonly #files = new Map<string, Uint8Array>();

  keep(name: string, bytes: Uint8Array, contentType = 'audio/mpeg'): MediaFile {
    this.#files.set(name, bytes);
    return { name, bytes: bytes.length, contentType };
  }

  async open(file: MediaFile): Promise<AsyncIterable<Uint8Array>> {
    const bytes = this.#files.get(file.name);
    if (!bytes) throw new Error(`There is no file ${file.name}`);
    return (async function* () {
      yield bytes.subarray(0, 1);
      yield bytes.subarray(1);
    })();
  }

  link = (file: MediaFile): string => `https://bot.example/files/${file.name}?signature=s`;
}

interface LogLine {
  readonly level: string;
  readonly sentence: string;
  readonly fields: object;
}

export interface Harness {
  readonly discord: DiscordServer;
  readonly bot: FakeBot;
  readonly media: FakeMedia;
  readonly log: LogLine[];
  readonly platform: Platform;
  /** Creates a new platform without any state, as after a restart. */
  another(): Promise<Platform>;
  close(): Promise<void>;
}

export interface HarnessOptions extends DiscordOptions {
  /** Replaces sleeping. The clock advances by the requested time, even if this resolves earlier. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly shards?: number;
  /** Additional options of the adapter. */
  readonly adapter?: (
    discord: DiscordServer,
  ) => Partial<Pick<AdapterOptions, 'shards' | 'messageContent' | 'settings' | 'now' | 'withLock'>>;
  /** Leaves the platform disconnected. */
  readonly idle?: boolean;
  readonly prepare?: (discord: DiscordServer) => void;
}

/** Starts the adapter with the real discord.js, connected to the strict local Discord. Both use the server's clock. */
export async function startHarness({
  sleep = realSleep,
  idle = false,
  prepare,
  adapter,
  ...options
}: HarnessOptions = {}): Promise<Harness> {
  const discord = await startDiscord(options);
  prepare?.(discord);
  const bot = new FakeBot();
  const media = new FakeMedia();
  const log: LogLine[] = [];
  const writer = (level: string) => (fields: object, sentence: string) =>
    void log.push({ level, sentence, fields });
  const logger: Log = {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
  let slept = 0;
  const create = () =>
    storing(
      createDiscord({
        token: discord.token,
        apiUrl: discord.apiUrl,
        media,
        measure: () => {},
        withLock: singleReplica,
        log: logger,
        now: () => discord.now(),
        elapsed: () => performance.now() + slept,
        random: () => 0.5,
        async sleep(milliseconds, signal) {
          await sleep(milliseconds, signal);
          if (sleep !== realSleep) slept += milliseconds;
        },
        ...adapter?.(discord),
      }),
    );
  const platform = create();
  if (platform.readHistory) bot.readHistory = platform.readHistory;
  const replicas: Platform[] = [];
  if (!idle) {
    await platform.start(bot);
    await discord.until(() => discord.registrations.count > 0, 'the commands to be registered');
  }
  return {
    discord,
    bot,
    media,
    log,
    platform,
    another: async () => {
      const next = create();
      replicas.push(next);
      return next;
    },
    close: async () => {
      for (const replica of [platform, ...replicas]) await replica.close();
      await discord.close();
    },
  };
}

/** Options of `show` that store the post, as a job's record does. */
export class StoredPost implements ShowOptions {
  readonly key: string;
  posted: PostState | undefined;
  times = 0;

  constructor(key: string) {
    this.key = key;
  }

  remember = async (posted: PostState): Promise<void> => {
    this.times += 1;
    this.posted = posted;
  };
}

/** Accepts the next invocation as a job whose message the test writes. */
export function accept(bot: FakeBot): Promise<Invocation> {
  return new Promise((resolve) => {
    bot.answer = async (invocation) => ({ type: 'accepted', job: 'job1', begin: () => resolve(invocation) });
  });
}
