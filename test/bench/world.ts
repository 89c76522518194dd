/** Both strict chats and a gateway in this process, with simulated people. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmulator } from '../../src/emulator/server.ts';
import type { Studio } from '../../src/emulator/studio/studio.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { startUpstream } from '../jobs/ask/upstream.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { startBot } from './bot.ts';

/** Late responses are measured, not rejected. */
const PATIENCE_MS = 60_000;
const POLL_MS = 20;
const LONGEST_WAIT_MS = 120_000;

/** A text in a channel, and when it appeared, in milliseconds since the epoch. */
export interface Shown {
  readonly at: number;
  readonly text: string;
}

export interface Chat {
  readonly name: 'Discord' | 'Slack';
  /** Requests a song as a new person. Resolves to the milliseconds until the acknowledgement. */
  song(): Promise<number>;
  /** Asks a question in a new channel. Resolves to all states shown there once the answer is complete, oldest first. */
  ask(): Promise<Shown[]>;
}

export type BenchWorld = Awaited<ReturnType<typeof startWorld>>;

/** @param options.speed the duration of the gateway's tasks; 0 is immediate */
export async function startWorld(options: { speed?: number; studio?: Studio } = {}) {
  await using opened = new AsyncDisposableStack();
  const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  opened.defer(() => discord.close());
  const slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  opened.defer(() => slack.close());
  const emulator = await startEmulator({ speed: 0, studio: createSampleStudio(), ...options });
  opened.defer(() => emulator.close());
  const gateway = opened.use(await startUpstream());
  gateway.gateway = emulator.url;
  const environment: Readonly<Record<string, string>> = {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
    MEDIA_ALLOWED_HOSTS: new URL(emulator.url).host,
  };
  const resources = opened.move();
  return {
    discord,
    slack,
    chats: [onDiscord(discord), onSlack(slack)] as const,
    gateway,
    /** Settings of a bot on both chats. */
    environment,
    /** Resolves when the bot accepts commands on both chats. */
    async startBot(settings: Readonly<Record<string, string>> = {}) {
      const bot = await startBot({ ...environment, ...settings });
      await discord.until(() => discord.commands.length > 0, 'registered commands');
      await slack.until(() => slack.socketMode.connections > 0);
      return bot;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function onDiscord(discord: DiscordServer): Chat {
  let people = 0;
  return {
    name: 'Discord',
    async song() {
      const user = discord.world.addUser(`person${++people}`);
      const handle = discord.command({ name: 'song', options: { prompt: 'rain' }, user });
      return await poll(() => handle.latencyMs ?? undefined);
    },
    async ask() {
      const user = discord.world.addUser(`person${++people}`);
      const channel = discord.world.addChannel('questions', { guildId: discord.guild.id });
      const handle = discord.command({ name: 'ask', options: { question: 'Why?' }, user, channel });
      // Messages that are deleted later were visible too.
      const messages = new Set<(typeof handle.messages)[number]>();
      await poll(() => {
        for (const message of handle.messages) messages.add(message);
        return isComplete(handle.messages.map(({ components }) => components)) || undefined;
      });
      return [...messages]
        .flatMap(({ history }) =>
          history.map(({ at, content, embeds }) => ({ at, text: content + JSON.stringify(embeds) })),
        )
        .toSorted((one, other) => one.at - other.at);
    },
  };
}

function onSlack(slack: SlackServer): Chat {
  let people = 0;
  return {
    name: 'Slack',
    async song() {
      const user = `U0PERSON${++people}`;
      slack.workspace.addUser({ id: user, name: `person${people}` });
      const sentAt = performance.now();
      const { acknowledged } = await slack.slash('/song', 'rain', { user });
      return acknowledged ? performance.now() - sentAt : Number.POSITIVE_INFINITY;
    },
    async ask() {
      const { id: channel } = slack.workspace.addChannel({ id: `C0ASK${++people}`, name: 'questions' });
      void slack.mention('Why?', { channel });
      await poll(() => isComplete(slack.botMessages(channel).map(({ blocks }) => blocks)) || undefined);
      return slack.workspace.messages
        .filter((message) => message.channel === channel && message.user === slack.workspace.botUser)
        .flatMap(({ revisions }) =>
          revisions.map(({ at, text, blocks }) => ({ at, text: text + JSON.stringify(blocks) })),
        )
        .toSorted((one, other) => one.at - other.at);
    },
  };
}

/** The button appears at the end of an answer. */
const isComplete = (parts: readonly unknown[]): boolean => JSON.stringify(parts).includes('ask.again');

/** Polls slowly, because hundreds wait at the same time. */
async function poll<Value>(look: () => Value | undefined): Promise<Value> {
  const until = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    if (performance.now() > until) throw new Error('The bot did not answer in time');
    await sleep(POLL_MS);
  }
}
