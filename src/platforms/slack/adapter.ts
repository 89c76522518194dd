/** The Slack platform adapter. */
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
import { organisationOfAddress, type Workspace } from './connection/workspaces.ts';
import { offersAction } from './deliver/find-posted.ts';
import { linkTo } from './deliver/post.ts';
import { deliveryAddress, sendPrivately } from './deliver/private.ts';
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
  /** The bot answers in threads that it has joined without being mentioned. */
  readonly threads: boolean;
  /** Base URL of the Web API. Defaults to Slack's own. */
  readonly apiUrl?: string;
  readonly media: MediaReader;
  /** Storage for installations. */
  readonly settings: InstallationSettings;
  /** Runs `work` under a lock that is shared by all replicas. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly measure: Measure;
  /** Resolves early when aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long Slack waits for an acknowledgement. Tests set a longer time. */
  readonly patienceMs?: number;
}

const MENTIONS_ONLY_NOTICE =
  "Slack only sends me messages that mention me. To change this, the bot's operator can set SLACK_THREADS=1 and create the manifest with --threads.";

const TIMEOUT_MS = 15_000;
/** How long `stop` waits for running handlers. Slack stops waiting for an acknowledgement after the same time. */
const STOP_MS = 3000;
/** Hosts of private files. The token is sent to no other host. */
const FILE_HOSTS = ['files.slack.com', 'slack.com'];

/** Builds the adapter. Does not connect until `start`. */
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
  const workspaceAt = (address: Address) => workspaces.of(address.guild, organisationOfAddress(address));
  const toolsAt = async (address: Address) => ({ ...tools, ...(await workspaceAt(address)) });
  /** Shows the progress of a message in the status of its agent thread. */
  async function updateAgentStatus(
    address: Address,
    { progress }: Message,
    { agents }: Workspace,
  ): Promise<void> {
    const agentThread = agentThreadOf(address);
    if (agentThread === undefined) return;
    if (progress === undefined) await agents.setIdle(agentThread);
    else await agents.setProgress(agentThread, progress);
  }

  const stopping = new AbortController();
  /** Set while Slack rejects the token. */
  let tokenProblem: string | undefined;

  /**
   * Starts the connection once Slack accepts the token, because no result could be posted before. Resolves after Slack's
   * first answer, and retries in the background.
   */
  async function checkToken(): Promise<void> {
    if (stopping.signal.aborted) return;
    const previous = tokenProblem;
    tokenProblem = await account.tokenProblem();
    if (stopping.signal.aborted) return;
    if (tokenProblem === undefined) return await connection.start();
    if (tokenProblem !== previous) log.error({}, tokenProblem);
    void sleep(TOKEN_RETRY_MS, stopping.signal).then(checkToken);
  }

  async function onUninstalled(id: string, at: number): Promise<void> {
    await account.onRemoved(id, at);
    if (tokenProblem === undefined) await checkToken();
  }

  const fileOrigins = apiUrl === undefined ? [] : [new URL(apiUrl).origin];

  return {
    name: PLATFORM_NAME,
    ...(!options.threads && { mentionsOnlyNotice: MENTIONS_ONLY_NOTICE }),
    listener: http.routes,

    async start(bot: Bot) {
      listen(app, { ...tools, bot, threads: options.threads, onUninstalled });
      await checkToken();
    },

    async stop() {
      stopping.abort();
      connection.drain();
      // An event must be acknowledged over the connection that delivered it.
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
      const problem = tokenProblem ?? connection.problem;
      return problem === undefined ? { ready: true } : { ready: false, reason: problem };
    },

    async show(address, message, showOptions) {
      const workspaceTools = await toolsAt(address);
      await workspaceTools.rates.messages.slot('next');
      const where = await deliveryAddress(address, showOptions.posted, workspaceTools);
      const posted = await show(where, message, showOptions, workspaceTools);
      await updateAgentStatus(address, message, workspaceTools);
      return posted;
    },

    async showProgress(address, progress) {
      const agentThread = agentThreadOf(address);
      if (agentThread === undefined) return undefined;
      const { identity, agents } = await workspaceAt(address);
      await identity.settle();
      if (!agents.isAvailable()) return undefined;
      await agents.setProgress(agentThread, progress);
      return LIMITS.statusMs;
    },

    async retract(address, posts) {
      const workspaceTools = await toolsAt(address);
      const where = await deliveryAddress(address, posts.current, workspaceTools);
      await retract(where, posts, workspaceTools);
    },

    stream(address, showOptions) {
      const workspace = workspaceAt(address);
      const stream = streamTo(address, showOptions, workspace, tools);
      return {
        update: stream.update,
        async close(message) {
          const posted = await stream.close(message);
          await updateAgentStatus(address, message, await workspace);
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
      const isSlackHost = protocol === 'https:' && FILE_HOSTS.includes(hostname);
      if (!isSlackHost && !fileOrigins.includes(origin)) return {};
      const { token } = await workspaceAt(address);
      return { authorization: `Bearer ${token}` };
    },

    async sendPrivately(address, message) {
      await sendPrivately(address, message, await toolsAt(address));
    },
  };
}
