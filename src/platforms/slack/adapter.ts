/** Slack as a platform. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../command.ts';
import { type Bot, type MediaReader, type Platform, PlatformError } from '../platform.ts';
import { createApp, createWebClient } from './app.ts';
import { isTokenError, slackErrorOf } from './errors.ts';
import { createIdentity } from './identity.ts';
import { PLATFORM_NAME } from './invocations.ts';
import { LIMITS } from './limits.ts';
import { listen } from './listeners.ts';
import { sdkLogger } from './logger.ts';
import { linkTo } from './message-link.ts';
import { createPace } from './pace.ts';
import { createPersons } from './persons.ts';
import { createResponseUrls } from './response-url.ts';
import { show } from './show.ts';
import { createSockets } from './sockets.ts';
import { createStream } from './stream.ts';
import { whisper } from './whisper.ts';

export interface SlackOptions {
  readonly botToken: string;
  readonly appToken: string;
  /** The Web API's base; Slack's own when left out. */
  readonly apiUrl?: string;
  readonly media: MediaReader;
  readonly log: Log;
  readonly now: () => number;
  readonly random?: () => number;
  /** Tests make it shorter. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Between two edits of texts that are being written; see LIMITS.editGapMs. */
  readonly editGapMs?: number;
  /** Held at once, so that Slack's refreshing of one leaves another. */
  readonly connections?: number;
}

const TIMEOUT_MS = 15_000;
/** Slack waits no longer than this for what was taken before a stop. */
const STOP_MS = 3000;
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Where Slack serves private files: nowhere else is the token sent. */
const FILE_HOSTS = ['files.slack.com', 'slack.com'];

/** Builds the adapter for one workspace in Socket Mode. Calls nobody until `start`. */
export function createSlack(options: SlackOptions): Platform {
  const { botToken, appToken, apiUrl, media, log, now } = options;
  const {
    random = Math.random,
    sleep = (ms) => delay(ms),
    editGapMs = LIMITS.editGapMs,
    connections = 2,
  } = options;
  const logger = sdkLogger(log);
  const client = { botToken, apiUrl, timeoutMs: TIMEOUT_MS, logger };
  const web = createWebClient(client);
  const identity = createIdentity(web);
  const pace = createPace({ gapMs: editGapMs, now, sleep });
  const tools = {
    web,
    pace,
    sleep,
    media,
    log,
    now,
    identity,
    persons: createPersons({ web, now, log }),
    responseUrls: createResponseUrls({ now, timeoutMs: TIMEOUT_MS }),
    uploadTimeoutMs: UPLOAD_TIMEOUT_MS,
    botName: () => identity.known()?.name ?? 'minstrel',
  };
  const sockets = createSockets({
    appToken,
    apiUrl,
    connections,
    timeoutMs: TIMEOUT_MS,
    logger,
    log,
    sleep,
    random,
  });
  const { app, idle } = createApp({ ...client, receiver: sockets, identity, log });
  const fileOrigins = apiUrl === undefined ? [] : [new URL(apiUrl).origin];

  return {
    name: PLATFORM_NAME,

    async start(bot: Bot) {
      listen(app, { ...tools, bot });
      try {
        await identity.read();
      } catch (error) {
        if (isTokenError(error)) throw refusedToken('SLACK_BOT_TOKEN', error);
        log.warn({ err: error }, 'Slack is away; trying again');
      }
      try {
        await sockets.start();
      } catch (error) {
        throw refusedToken('SLACK_APP_TOKEN', error);
      }
    },

    async stop() {
      // An acknowledgement needs the connection that its event came by.
      await Promise.race([idle(), sleep(STOP_MS)]);
      await sockets.stop();
    },

    async close() {
      await sockets.stop();
    },

    status() {
      const { trouble } = sockets;
      return trouble === undefined ? { ready: true } : { ready: false, reason: trouble };
    },

    show: (address, message, showOptions) => show(address, message, showOptions, tools),

    stream(address, showOptions) {
      let { posted } = showOptions;
      return createStream({
        pace,
        log,
        write: async (message, { passing }) => {
          const remember: typeof showOptions.remember = async (state) => {
            posted = state;
            await showOptions.remember(state);
          };
          posted = await show(address, message, { ...showOptions, posted, remember }, { ...tools, passing });
          return posted;
        },
      });
    },

    linkTo: (address, posted) => linkTo(address, posted, identity.known()),

    attachmentHeaders(url): Readonly<Record<string, string>> {
      if (!URL.canParse(url)) return {};
      const { protocol, hostname, origin } = new URL(url);
      const slacks = protocol === 'https:' && FILE_HOSTS.includes(hostname);
      return slacks || fileOrigins.includes(origin) ? { authorization: `Bearer ${botToken}` } : {};
    },

    whisper: (address, message) => whisper(address, message, tools),
  };
}

function refusedToken(variable: string, error: unknown): PlatformError {
  return new PlatformError(
    'refused',
    `Slack does not accept ${variable}: ${slackErrorOf(error) ?? 'no reason given'}`,
    {
      cause: error,
    },
  );
}
