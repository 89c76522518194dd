/** Slack as a platform. */
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Address } from '../../core/invocation.ts';
import type { Message } from '../../core/message.ts';
import type { System } from '../../core/system.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import type { MediaReader, Platform } from '../platform.ts';
import { openAccount } from './connection/account.ts';
import { createApp } from './connection/app.ts';
import { isPublicChannel } from './connection/channels.ts';
import { measuredFetch, sdkLogger } from './connection/client.ts';
import type { InstallationSettings } from './connection/oauth/installations.ts';
import type { HttpConnection, OAuthAccount, SocketConnection, TokenAccount } from './connection/options.ts';
import { createSockets } from './connection/sockets.ts';
import { organisationIn, type Workspace } from './connection/workspaces.ts';
import { offersAction } from './deliver/find-posted.ts';
import { linkTo } from './deliver/post.ts';
import { sendPrivately } from './deliver/private.ts';
import { retract, show } from './deliver/show.ts';
import { streamTo } from './deliver/stream.ts';
import { TOKEN_RETRY_MS } from './errors.ts';
import { LIMITS } from './limits.ts';
import { readSlackHistory } from './receive/history.ts';
import { listen } from './receive/listen.ts';
import { agentThreadOf, PLATFORM_NAME } from './receive/payloads.ts';

export interface SlackOptions extends Pick<System, 'now' | 'elapsed' | 'random' | 'log'> {
  readonly connection: SocketConnection | HttpConnection;
  readonly account: TokenAccount | OAuthAccount;
  /** Threads that the bot takes part in go on without its name. */
  readonly threads: boolean;
  /** The Web API's base; Slack's own when left out. */
  readonly apiUrl?: string;
  readonly media: MediaReader;
  /** Where installations are kept. */
  readonly settings: InstallationSettings;
  /** Runs the work while no other replica runs a task of this name. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly measure: Measure;
  /** Also resolves when it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long Slack waits for an acknowledgement. Tests have more patience. */
  readonly patienceMs?: number;
}

const HEARS_ONLY_ITS_NAME =
  "Slack only sends me messages that mention me. To change this, the bot's operator can set SLACK_THREADS=1 and create the manifest with --threads.";

const TIMEOUT_MS = 15_000;
/** A stop waits this long for what was taken before it; Slack waits no longer. */
const STOP_MS = 3000;
/** Hosts of private files; the token is sent to no other. */
const FILE_HOSTS = ['files.slack.com', 'slack.com'];

/** Builds the adapter. Connects to nothing until `start`. */
export function createSlack(options: SlackOptions): Platform {
  const { apiUrl, media, log, now, elapsed, sleep, random, measure } = options;
  const { patienceMs = LIMITS.patienceMs } = options;
  const client = {
    apiUrl,
    timeoutMs: TIMEOUT_MS,
    logger: sdkLogger(log),
    fetch: measuredFetch(fetch, measure),
  };
  const common = { client, now, elapsed, sleep, random, log, measure };
  const account = openAccount(options.account, {
    ...common,
    settings: options.settings,
    withLock: options.withLock,
    signingSecret: options.connection.type === 'http' ? options.connection.signingSecret : undefined,
    patienceMs,
  });
  const { workspaces, http } = account;
  const connection =
    options.connection.type === 'socket' ? createSockets(options.connection, common) : http.connection;
  const app = createApp({ ...common, receiver: connection, workspaces });
  const tools = { now, sleep, random, log, patienceMs, media, workspaces };
  const workspaceAt = (address: Address) => workspaces.of(address.guild, organisationIn(address));
  const toolsAt = async (address: Address) => ({ ...tools, ...(await workspaceAt(address)) });
  /** What a thread of the agent view shows decides what its status says. */
  async function tellStatus(address: Address, { progress }: Message, { agents }: Workspace): Promise<void> {
    const agentThread = agentThreadOf(address);
    if (agentThread === undefined) return;
    if (progress === undefined) await agents.rest(agentThread);
    else await agents.tell(agentThread, progress);
  }

  const stopping = new AbortController();
  /** Why Slack refuses the token. */
  let refusal: string | undefined;

  /**
   * Listens once the token is accepted: with one that Slack refuses, no result could be posted. Resolves after Slack's first
   * answer, and asks again until Slack accepts it.
   */
  async function checkToken(): Promise<void> {
    if (stopping.signal.aborted) return;
    const before = refusal;
    refusal = await account.refusal();
    if (stopping.signal.aborted) return;
    if (refusal === undefined) return await connection.start();
    if (refusal !== before) log.error({}, refusal);
    void sleep(TOKEN_RETRY_MS, stopping.signal).then(checkToken);
  }

  async function uninstalled(id: string, at: number): Promise<void> {
    await account.removed(id, at);
    if (refusal === undefined) await checkToken();
  }

  const fileOrigins = apiUrl === undefined ? [] : [new URL(apiUrl).origin];

  return {
    name: PLATFORM_NAME,
    ...(!options.threads && { hearsOnlyItsName: HEARS_ONLY_ITS_NAME }),
    listener: http.routes,

    async start(bot: Bot) {
      listen(app, { ...tools, bot, threads: options.threads, uninstalled });
      await checkToken();
    },

    async stop() {
      stopping.abort();
      connection.refuse();
      // An acknowledgement needs the connection that its event came by.
      const isIdle = new AbortController();
      await Promise.race([app.idle(), sleep(STOP_MS, isIdle.signal)]);
      isIdle.abort();
      await connection.stop();
    },

    async close() {
      stopping.abort();
      await connection.stop();
    },

    connections: () => connection.connections ?? 0,

    status() {
      const trouble = refusal ?? connection.trouble;
      return trouble === undefined ? { ready: true } : { ready: false, reason: trouble };
    },

    async show(address, message, showOptions) {
      const here = await toolsAt(address);
      await here.rates.messages.slot('next');
      const posted = await show(address, message, showOptions, here);
      await tellStatus(address, message, here);
      return posted;
    },

    async showProgress(address, progress) {
      const agentThread = agentThreadOf(address);
      if (agentThread === undefined) return undefined;
      const { identity, agents } = await workspaceAt(address);
      await identity.settle();
      if (!agents.isOffered()) return undefined;
      await agents.tell(agentThread, progress);
      return LIMITS.statusMs;
    },

    async retract(address, posts) {
      await retract(address, posts, await toolsAt(address));
    },

    stream(address, showOptions) {
      const workspace = workspaceAt(address);
      const stream = streamTo(address, showOptions, workspace, tools);
      return {
        update: stream.update,
        async close(message) {
          const posted = await stream.close(message);
          await tellStatus(address, message, await workspace);
          return posted;
        },
      };
    },

    async linkTo(address, posted) {
      const { identity } = await workspaceAt(address);
      return linkTo(address, posted, await identity.read());
    },

    async isPublic(address) {
      return isPublicChannel(address, await toolsAt(address));
    },

    async offers(address, posted, action) {
      return offersAction(address, posted, action, await toolsAt(address));
    },

    async readHistory(address, history) {
      return readSlackHistory(history, { ...tools, ...(await workspaceAt(address)) });
    },

    async attachmentHeaders(url, address): Promise<Readonly<Record<string, string>>> {
      if (!URL.canParse(url)) return {};
      const { protocol, hostname, origin } = new URL(url);
      const slacks = protocol === 'https:' && FILE_HOSTS.includes(hostname);
      if (!slacks && !fileOrigins.includes(origin)) return {};
      const { token } = await workspaceAt(address);
      return { authorization: `Bearer ${token}` };
    },

    async sendPrivately(address, message) {
      await sendPrivately(address, message, await toolsAt(address));
    },
  };
}
