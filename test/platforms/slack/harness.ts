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
import type { HomeSection, MediaFile, MediaItem, Message } from '../../../src/core/message.ts';
import type { Choice } from '../../../src/core/options.ts';
import type { Measure } from '../../../src/core/telemetry/series.ts';
import { platformRoutes } from '../../../src/http/platform-routes.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import type { MediaReader, MessageStream, Platform, PostState } from '../../../src/platforms/platform.ts';
import { createSlack } from '../../../src/platforms/slack/adapter.ts';
import { LIMITS } from '../../../src/platforms/slack/limits.ts';
import { type SlackServer, type SlackServerOptions, startSlackServer } from '../../servers/slack/server.ts';

const emptyAnswer = async (): Promise<Outcome> => ({ type: 'message', visibility: 'person', message: {} });

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
      voice: { type: 'text', description: 'A saved voice', autocomplete: true },
      mood: { type: 'text', description: 'A mood', rare: true },
      audio: { type: 'file', description: 'A tune', accept: ['audio'], maximumBytes: 1e6 },
    },
    messageMenu: { label: 'Create a song from this', option: 'prompt' },
    run: emptyAnswer,
  }),
  defineCommand({
    name: 'ask',
    description: 'Ask a question',
    options: {
      question: { type: 'text', description: 'The question', required: true },
      image: { type: 'file', description: 'A picture', accept: ['image'], maximumBytes: 1e6 },
    },
    messageMenu: { label: 'Ask about this', option: 'question' },
    run: emptyAnswer,
  }),
  defineCommand({
    name: 'jobs',
    description: 'What is running',
    options: {},
    answersPrivately: true,
    run: emptyAnswer,
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
        run: emptyAnswer,
      }),
      prompt: defineSubcommand({
        description: 'The prompt',
        options: { text: { type: 'text', description: 'The text' } },
        asks: true,
        run: emptyAnswer,
      }),
    },
    run: emptyAnswer,
  }),
];

/** A bot with a scripted answer that records its calls. */
export class FakeBot implements Bot {
  readonly commands = COMMANDS;
  readonly invocations: Invocation[] = [];
  readonly suggestions: SuggestRequest[] = [];
  started = 0;
  declined = 0;
  /** Requests for the Home tab. */
  readonly homeRequests: HomeRequest[] = [];
  sections: HomeSection[] = [{ title: 'Settings here', startsChannel: true }];
  choices: Choice[] = [];
  answer: (invocation: Invocation) => Outcome | Promise<Outcome> = () => this.accepted();

  accepted(): Outcome {
    return {
      type: 'accepted',
      job: 'j1',
      begin: () => {
        this.started += 1;
      },
      decline: async () => {
        this.declined += 1;
      },
    };
  }

  /** Jobs read the history first. */
  readHistory: NonNullable<Platform['readHistory']> = async () => [];

  async run({ history, ...request }: Invocation): Promise<Outcome> {
    const { address, conversation: earlier = [] } = request;
    const conversation = [...(history ? await this.readHistory(address, history) : []), ...earlier];
    const invocation = request.isMessage ? { ...request, conversation } : request;
    this.invocations.push(invocation);
    return await this.answer(invocation);
  }

  async home(request: HomeRequest): Promise<readonly HomeSection[]> {
    this.homeRequests.push(request);
    return this.sections;
  }

  async refusal(): Promise<undefined> {}

  suggested: SuggestedPrompt[] = [];
  /** Requests for prompts, and for cancelling running jobs. */
  readonly promptRequests: HomeRequest[] = [];
  readonly cancelled: HomeRequest[] = [];

  /** IDs of invocations whose message was deleted. */
  readonly withdrawn: string[] = [];
  withdraw = async ({ id }: Pick<Invocation, 'id'>): Promise<void> => void this.withdrawn.push(id);

  async prompts(request: HomeRequest): Promise<readonly SuggestedPrompt[]> {
    this.promptRequests.push(request);
    return this.suggested;
  }

  /** Channels where every message is a question. */
  readonly talkative = new Set<string>();

  async answersEveryMessage({ channel }: Address): Promise<boolean> {
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

export function storedFile(name: string, contentType: string): { type: 'stored'; file: MediaFile } {
  return { type: 'stored', file: { name, bytes: FILES.get(name)?.length ?? 1, contentType } };
}

export const SONG: MediaItem = {
  kind: 'audio',
  name: 'rain.mp3',
  source: storedFile('song', 'audio/mpeg'),
  caption: 'Take 1 · 2:31',
};
export const PICTURE: MediaItem = {
  kind: 'image',
  name: 'rain.png',
  source: storedFile('picture', 'image/png'),
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

/** The factor by which the adapter's sleeps are shortened, so that no test waits for a Retry-After. */
const SPEED_UP = 100;
const DEADLINES: readonly number[] = [LIMITS.acknowledgeWithinMs, LIMITS.lookUpWithinMs];
/** Milliseconds between two edits, by the adapter's clock. */
export const EDIT_GAP_MS = 1_200;

/** Records the messages of warnings and errors. */
const logInto = (warnings: string[], errors: string[] = []) => ({
  debug() {},
  info() {},
  warn: (_fields: object, sentence: string) => void warnings.push(sentence),
  error: (_fields: object, sentence: string) => void errors.push(sentence),
});

export interface HarnessOptions extends SlackServerOptions {
  connection?: 'socket' | 'http';
  threads?: boolean;
  measure?: Measure;
  /** Injects faults before the adapter starts. */
  injectFaults?: (server: SlackServer) => void;
  /** Uses this machine's clock. By default time passes only while the adapter sleeps, so that slow machines do not matter. */
  realTime?: boolean;
  /** Milliseconds that the adapter's clock is ahead of Slack's. */
  aheadMs?: number;
  /** How long the adapter expects Slack to wait for an acknowledgement. */
  patienceMs?: number;
}

export interface Harness {
  /** Messages of the adapter's warnings. */
  readonly warnings: readonly string[];
  /** Messages of the adapter's errors. */
  readonly errors: readonly string[];
  /** The adapter's clock. */
  now(): number;
  /** The number of the adapter's pending sleeps. */
  sleeping(): number;
  /** Moves the adapter's clock. */
  passTime(ms: number): void;
  /** Moves the clock of the bot's machine, but not Slack's. */
  setClock(ms: number): void;
  /** Updates a stream and waits for the adapter's next call to Slack. */
  update(writing: MessageStream, message: Message): Promise<void>;
  /** The URL for Slack's requests. */
  readonly url: string;
  readonly server: SlackServer;
  readonly slack: Platform;
  readonly bot: FakeBot;
  /** Creates another platform, as after a restart, without starting it. */
  createReplica(): Platform;
  /** Stored states, oldest first. */
  readonly stored: PostState[];
  /** Shows a message as a job does, with the latest stored state. */
  show(
    message: Message,
    options?: { address?: Address; key?: string; posted?: PostState | undefined; mayHavePosted?: boolean },
  ): Promise<PostState>;
  stop(): Promise<void>;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const bot = new FakeBot();
  const warnings: string[] = [];
  const errors: string[] = [];
  const log = logInto(warnings, errors);
  const startedAt = Date.now();
  const { realTime = false } = options;
  const speed = realTime ? 1 : SPEED_UP;
  let { aheadMs = 0 } = options;
  let passed = 0;
  let slept = 0;
  let sleeping = 0;
  const elapsed = () => (realTime ? performance.now() : slept);
  const slackNow = () => (realTime ? Date.now() : startedAt + slept) + passed;
  const now = () => slackNow() + aheadMs;
  const server = await startSlackServer({ writtenNow: slackNow, ...options });
  const createReplica = () =>
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
        // The server measures these deadlines too, so they are not shortened.
        await delay(DEADLINES.includes(ms) ? ms : ms / speed, undefined, { signal }).catch(() => undefined);
        sleeping -= 1;
        if (signal?.aborted !== true) slept = Math.max(slept, until);
      },
      measure: options.measure ?? (() => {}),
    });
  const slack = createReplica();
  if (slack.readHistory) bot.readHistory = slack.readHistory;
  const listener = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: slack.listener ? [platformRoutes(slack.listener)] : [],
  });
  if (options.connection === 'http') server.deliverTo(`${listener.url}/slack/events`);
  options.injectFaults?.(server);
  await slack.start(bot);
  // Waits for the second socket.
  if (options.connection !== 'http' && slack.status().ready)
    await server.until(() => server.socketMode.connections === 2);
  const stored: PostState[] = [];
  return {
    warnings,
    errors,
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
    createReplica,
    stored,
    show: async (message, { address = ADDRESS, key = 'job-1', ...more } = {}) => {
      const posted = await slack.show(address, message, {
        key,
        posted: stored.at(-1),
        ...more,
        remember: async (state) => {
          stored.push(state);
        },
      });
      stored.push(posted);
      return posted;
    },
    stop: async () => {
      await slack.close();
      await listener.close();
      await server.close();
    },
  };
}
