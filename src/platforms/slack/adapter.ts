/** Slack as a platform. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../command.ts';
import type { Bot, MediaReader, Platform } from '../platform.ts';
import { type Account, openAccount } from './account.ts';
import { createApp } from './app.ts';
import { type Connection, openConnection } from './connection.ts';
import { PLATFORM_NAME } from './invocations.ts';
import { LIMITS } from './limits.ts';
import { listen } from './listen/index.ts';
import { sdkLogger } from './logger.ts';
import { BOT_SCOPES, THREAD_SCOPES } from './manifest.ts';
import { linkTo } from './message-link.ts';
import type { InstallationSettings } from './oauth/installations.ts';
import { createResponseUrls } from './response-url.ts';
import { show } from './show.ts';
import { streamTo } from './stream.ts';
import { whisper } from './whisper.ts';

export interface SlackOptions {
  readonly connection: Connection;
  readonly account: Account;
  /** Threads that the bot takes part in go on without its name. */
  readonly threads: boolean;
  /** The Web API's base; Slack's own when left out. */
  readonly apiUrl?: string;
  readonly media: MediaReader;
  /** Where installations are kept. */
  readonly settings: InstallationSettings;
  /** Runs the work while no other replica runs a task of this name. */
  readonly inTurn: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly log: Log;
  readonly now: () => number;
  readonly random?: () => number;
  /** Tests make it shorter. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Between two edits of texts that are being written; see LIMITS.editGapMs. */
  readonly editGapMs?: number;
}

const TIMEOUT_MS = 15_000;
/** Slack waits no longer than this for what was taken before a stop. */
const STOP_MS = 3000;
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Where Slack serves private files: nowhere else is the token sent. */
const FILE_HOSTS = ['files.slack.com', 'slack.com'];

/** Builds the adapter. Calls nobody until `start`. */
export function createSlack(options: SlackOptions): Platform {
  const { apiUrl, media, log, now } = options;
  const { random = Math.random, sleep = (ms) => delay(ms), editGapMs = LIMITS.editGapMs } = options;
  const client = { apiUrl, timeoutMs: TIMEOUT_MS, logger: sdkLogger(log) };
  const account = openAccount(options.account, {
    client,
    settings: options.settings,
    inTurn: options.inTurn,
    scopes: options.threads ? [...BOT_SCOPES, ...THREAD_SCOPES] : BOT_SCOPES,
    editGapMs,
    now,
    sleep,
    log,
  });
  const { workspaces } = account;
  const connection = openConnection(options.connection, { client, now, sleep, random, log });
  const { app, idle } = createApp({
    ...client,
    receiver: connection.receiver,
    workspaces,
    sleep,
    log,
  });
  const tools = {
    sleep,
    media,
    log,
    now,
    workspaces,
    responseUrls: createResponseUrls({ now, timeoutMs: TIMEOUT_MS }),
    uploadTimeoutMs: UPLOAD_TIMEOUT_MS,
  };
  const fileOrigins = apiUrl === undefined ? [] : [new URL(apiUrl).origin];

  return {
    name: PLATFORM_NAME,
    ...(connection.receive === undefined ? {} : { receive: connection.receive }),
    ...(account.visit === undefined ? {} : { visit: account.visit }),

    async start(bot: Bot) {
      listen(app, { ...tools, bot, threads: options.threads, uninstalled: account.uninstalled });
      await account.start();
      await connection.start();
    },

    async stop() {
      connection.refuse();
      // An acknowledgement needs the connection that its event came by.
      await Promise.race([idle(), sleep(STOP_MS)]);
      await connection.stop();
    },

    async close() {
      await connection.stop();
    },

    status() {
      const { trouble } = connection;
      return trouble === undefined ? { ready: true } : { ready: false, reason: trouble };
    },

    async show(address, message, showOptions) {
      const workspace = await workspaces.of(address.guild);
      return show(address, message, showOptions, { ...tools, ...workspace });
    },

    stream: (address, showOptions) => streamTo(address, showOptions, workspaces.of(address.guild), tools),

    async linkTo(address, posted) {
      const { identity } = await workspaces.of(address.guild);
      return linkTo(address, posted, await identity.read());
    },

    async attachmentHeaders(url, { guild }): Promise<Readonly<Record<string, string>>> {
      if (!URL.canParse(url)) return {};
      const { protocol, hostname, origin } = new URL(url);
      const slacks = protocol === 'https:' && FILE_HOSTS.includes(hostname);
      if (!slacks && !fileOrigins.includes(origin)) return {};
      const { token } = await workspaces.of(guild);
      return { authorization: `Bearer ${token}` };
    },

    async whisper(address, message) {
      await whisper(address, message, { ...tools, ...(await workspaces.of(address.guild)) });
    },
  };
}
