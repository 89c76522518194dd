import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AnyCommand,
  defineCommand,
  defineSubcommand,
  type SuggestedPrompt,
} from '../../../src/core/bot/command.ts';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Address, HomeRequest, Invocation, SuggestRequest } from '../../../src/core/invocation.ts';
import type { HomeSection, KeptFile, MediaItem, Message } from '../../../src/core/message.ts';
import type { Choice } from '../../../src/core/options.ts';
import type { Measure } from '../../../src/core/telemetry/series.ts';
import { platformRoutes } from '../../../src/http/platform-routes.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import type { MediaReader, MessageStream, Platform, Posted } from '../../../src/platforms/platform.ts';
import { createSlack } from '../../../src/platforms/slack/adapter.ts';
import { LIMITS } from '../../../src/platforms/slack/limits.ts';
import { type SlackServer, type SlackServerOptions, startSlackServer } from '../../servers/slack/server.ts';

const nothing = async (): Promise<Outcome> => ({ type: 'message', visibility: 'person', message: {} });

export const COMMANDS: readonly AnyCommand[] = [
  defineCommand({
    name: 'song',
    description: 'Create a song',
    options: {
      prompt: {
        type: 'text',
        description: 'Describe the song',
        maximumLength: 3000,
        multiline: true,
        required: true,
      },
      style: { type: 'text', description: 'Style' },
      instrumental: { type: 'flag', description: 'Instrumental (no vocals)' },
      weight: { type: 'number', description: 'How much', minimum: 0, maximum: 1 },
      model: { type: 'choice', description: 'The model', choices: [{ name: 'Five', value: 'V5' }] },
      voice: { type: 'text', description: 'A kept voice', autocomplete: true },
      audio: { type: 'file', description: 'A tune', accept: ['audio'], maximumBytes: 1e6 },
    },
    messageMenu: { label: 'Create a song from this', option: 'prompt' },
    run: nothing,
  }),
  defineCommand({
    name: 'ask',
    description: 'Ask a question',
    options: {
      question: { type: 'text', description: 'The question', required: true },
      image: { type: 'file', description: 'A picture', accept: ['image'], maximumBytes: 1e6 },
    },
    messageMenu: { label: 'Ask about this', option: 'question' },
    run: nothing,
  }),
  defineCommand({
    name: 'jobs',
    description: 'What is running',
    options: {},
    answersPrivately: true,
    run: nothing,
  }),
  defineCommand({
    name: 'models',
    description: 'Models',
    options: {},
    subcommands: {
      set: defineSubcommand({
        description: 'Choose one',
        options: {
          family: { type: 'choice', description: 'For what', choices: [{ name: 'answers', value: 'ask' }] },
          model: { type: 'text', description: 'Which', autocomplete: true },
        },
        run: nothing,
      }),
      prompt: defineSubcommand({
        description: 'The prompt',
        options: { text: { type: 'text', description: 'The text' } },
        asks: true,
        run: nothing,
      }),
    },
    run: nothing,
  }),
];

/** A bot that answers as it is told, and keeps what it was asked. */
export class FakeBot implements Bot {
  readonly commands = COMMANDS;
  readonly invocations: Invocation[] = [];
  readonly suggestions: SuggestRequest[] = [];
  begun = 0;
  declined = 0;
  /** Who opened their Home, and at which channel. */
  readonly homes: HomeRequest[] = [];
  sections: HomeSection[] = [{ title: 'Settings here' }];
  choices: Choice[] = [];
  answer: (invocation: Invocation) => Outcome | Promise<Outcome> = () => this.accepted();

  accepted(): Outcome {
    return {
      type: 'accepted',
      job: 'j1',
      begin: () => {
        this.begun += 1;
      },
      decline: async () => {
        this.declined += 1;
      },
    };
  }

  /** What jobs do first: read what was said before. */
  readHistory: NonNullable<Platform['readHistory']> = async () => [];

  async run({ history, ...asked }: Invocation): Promise<Outcome> {
    const { address, conversation: known = [] } = asked;
    const conversation = [...(history ? await this.readHistory(address, history) : []), ...known];
    const invocation = asked.isMessage ? { ...asked, conversation } : asked;
    this.invocations.push(invocation);
    return await this.answer(invocation);
  }

  async home(request: HomeRequest): Promise<readonly HomeSection[]> {
    this.homes.push(request);
    return this.sections;
  }

  async refusal(): Promise<undefined> {}

  suggested: SuggestedPrompt[] = [];
  /** Where prompts were asked for, and where what runs was cancelled. */
  readonly prompted: HomeRequest[] = [];
  readonly cancelled: HomeRequest[] = [];

  /** Invocations whose message was deleted. */
  readonly withdrawn: string[] = [];
  withdraw = async ({ id }: Pick<Invocation, 'id'>): Promise<void> => void this.withdrawn.push(id);

  async prompts(request: HomeRequest): Promise<readonly SuggestedPrompt[]> {
    this.prompted.push(request);
    return this.suggested;
  }

  /** Channels in which each message is a question. */
  readonly talkative = new Set<string>();

  async talks({ channel }: Address): Promise<boolean> {
    return this.talkative.has(channel);
  }

  async cancelRunning(request: HomeRequest): Promise<void> {
    this.cancelled.push(request);
  }

  async suggest(request: SuggestRequest): Promise<readonly Choice[]> {
    this.suggestions.push(request);
    return this.choices;
  }
}

export const FILES = new Map<string, Buffer>([
  ['song', Buffer.from('ID3 a song that plays')],
  ['take-2', Buffer.from('ID3 another take')],
  ['picture', Buffer.from('PNG a picture')],
]);

export const media: MediaReader = {
  open: async ({ name }) => Readable.from([FILES.get(name) ?? Buffer.from('?')]),
  link: ({ name }, downloadName) =>
    `https://bot.example/files/${name}?as=${encodeURIComponent(downloadName)}`,
};

export function kept(name: string, contentType: string): { type: 'kept'; file: KeptFile } {
  return { type: 'kept', file: { name, bytes: FILES.get(name)?.length ?? 1, contentType } };
}

export const SONG: MediaItem = {
  kind: 'audio',
  name: 'rain.mp3',
  source: kept('song', 'audio/mpeg'),
  caption: 'Take 1 · 2:31',
};
export const PICTURE: MediaItem = {
  kind: 'image',
  name: 'rain.png',
  source: kept('picture', 'image/png'),
  alt: 'Rain',
};

export const ADDRESS: Address = {
  platform: 'slack',
  guild: 'T0MINSTREL',
  channel: 'C0MUSIC',
  person: 'U0ADA',
};

const noSettings = {
  get: async () => undefined,
  set: async () => {},
  delete: async () => {},
};

/** The adapter sleeps this much shorter, so that no test waits for a Retry-After. */
const SPEED = 100;
const DEADLINES: readonly number[] = [LIMITS.acknowledgeWithinMs, LIMITS.lookUpWithinMs];
/** Milliseconds between two edits, by the adapter's clock. */
export const EDIT_GAP_MS = 1_200;

/** Keeps the sentences of warnings and of errors. */
const logInto = (warned: string[], failures: string[] = []) => ({
  debug() {},
  info() {},
  warn: (_fields: object, sentence: string) => void warned.push(sentence),
  error: (_fields: object, sentence: string) => void failures.push(sentence),
});

export interface HarnessOptions extends SlackServerOptions {
  connection?: 'socket' | 'http';
  threads?: boolean;
  measure?: Measure;
  /** What goes wrong while the adapter starts. */
  trouble?: (server: SlackServer) => void;
  /** The adapter's time is that of this machine. Otherwise it passes while the adapter sleeps, however slow the machine is. */
  realTime?: boolean;
  /** How far the adapter's clock is ahead of Slack's, in milliseconds. */
  aheadMs?: number;
  /** How long the adapter takes Slack to wait for an acknowledgement. */
  patienceMs?: number;
}

export interface Harness {
  /** Sentences of the adapter's warnings. */
  readonly warned: readonly string[];
  /** Sentences of its errors. */
  readonly failures: readonly string[];
  /** The adapter's. */
  now(): number;
  /** How many of the adapter's waits have not ended. */
  sleeping(): number;
  /** Moves the adapter's clock. */
  passTime(ms: number): void;
  /** Sets the clock of the bot's machine by so much. */
  setClock(ms: number): void;
  /** Updates a stream, and waits until the adapter has called Slack for it. */
  update(writing: MessageStream, message: Message): Promise<void>;
  /** Where Slack sends requests. */
  readonly url: string;
  readonly server: SlackServer;
  readonly slack: Platform;
  readonly bot: FakeBot;
  /** A platform made anew, as after a restart; it is not started. */
  another(): Platform;
  /** What was remembered, oldest first. */
  readonly remembered: Posted[];
  /** Shows as a job would: with what was remembered last. */
  show(
    message: Message,
    options?: { address?: Address; key?: string; posted?: Posted | undefined; mayHavePosted?: boolean },
  ): Promise<Posted>;
  stop(): Promise<void>;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const bot = new FakeBot();
  const warned: string[] = [];
  const failures: string[] = [];
  const log = logInto(warned, failures);
  const startedAt = Date.now();
  const { realTime = false } = options;
  const speed = realTime ? 1 : SPEED;
  let { aheadMs = 0 } = options;
  let passed = 0;
  let slept = 0;
  let sleeping = 0;
  const elapsed = () => (realTime ? performance.now() : slept);
  const slackNow = () => (realTime ? Date.now() : startedAt + slept) + passed;
  const now = () => slackNow() + aheadMs;
  const server = await startSlackServer({ writtenNow: slackNow, ...options });
  const another = () =>
    createSlack({
      account: { type: 'token', botToken: server.botToken },
      connection:
        options.connection === 'http'
          ? { type: 'http', signingSecret: server.signingSecret }
          : { type: 'socket', appToken: server.appToken },
      threads: options.threads ?? false,
      settings: noSettings,
      withLock: (_task, work) => work(),
      apiUrl: server.apiUrl,
      media,
      log,
      now,
      elapsed,
      random: Math.random,
      patienceMs: options.patienceMs ?? LIMITS.patienceMs * speed,
      sleep: async (ms, signal) => {
        const until = elapsed() + ms;
        sleeping += 1;
        // Deadlines of an acknowledgement are the server’s too, so they stay as they are.
        await delay(DEADLINES.includes(ms) ? ms : ms / speed, undefined, { signal }).catch(() => undefined);
        sleeping -= 1;
        if (signal?.aborted !== true) slept = Math.max(slept, until);
      },
      measure: options.measure ?? (() => {}),
    });
  const slack = another();
  if (slack.readHistory) bot.readHistory = slack.readHistory;
  const listener = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: slack.listener ? [platformRoutes(slack.listener)] : [],
  });
  if (options.connection === 'http') server.deliverTo(`${listener.url}/slack/events`);
  options.trouble?.(server);
  await slack.start(bot);
  // The second socket is still opening.
  if (options.connection !== 'http' && slack.status().ready)
    await server.until(() => server.socketMode.connections === 2);
  const remembered: Posted[] = [];
  return {
    warned,
    failures,
    now,
    sleeping: () => sleeping,
    passTime: (ms) => {
      passed += ms;
    },
    setClock: (ms) => {
      aheadMs += ms;
    },
    update: async (writing, message) => {
      const before = server.calls.length;
      writing.update(() => message);
      await server.until(() => server.calls.length > before);
    },
    url: `${listener.url}/slack/events`,
    server,
    slack,
    bot,
    another,
    remembered,
    show: async (message, { address = ADDRESS, key = 'job-1', ...more } = {}) => {
      const posted = await slack.show(address, message, {
        key,
        posted: remembered.at(-1),
        ...more,
        remember: async (state) => {
          remembered.push(state);
        },
      });
      remembered.push(posted);
      return posted;
    },
    stop: async () => {
      await slack.close();
      await listener.close();
      await server.close();
    },
  };
}
