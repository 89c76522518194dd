/** Builds the Bolt app: its client with our retries, its receiver, and who it acts as. */
import { App, type Logger, type Receiver, webApi } from '@slack/bolt';
import type { Log } from '../../command.ts';
import { deferAcknowledgements } from './deferred-ack.ts';
import { LIMITS } from './limits.ts';
import type { Workspaces } from './workspaces.ts';

export interface ClientOptions {
  /** The Web API's base, with a slash at its end; Slack's own when left out. */
  readonly apiUrl: string | undefined;
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** A Web API client never tries again by itself: the SDK would for half an hour. */
export function webClientOptions({ apiUrl, timeoutMs, logger }: ClientOptions): webApi.WebClientOptions {
  return {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    logger,
  };
}

export function createWebClient(token: string | undefined, options: ClientOptions): webApi.WebClient {
  return new webApi.WebClient(token, webClientOptions(options));
}

export interface AppOptions extends ClientOptions {
  readonly receiver: Receiver;
  readonly workspaces: Workspaces;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
}

export interface BuiltApp {
  readonly app: App;
  /** Resolves when nothing that Slack sent is being handled. */
  idle(): Promise<void>;
}

/** Calls nobody until the receiver starts. */
export function createApp({ receiver, workspaces, sleep, log, ...options }: AppOptions): BuiltApp {
  /** What came and could not be handled: Slack may send it again. */
  const failed = new WeakSet<object>();
  const app = new App({
    receiver,
    logger: options.logger,
    clientOptions: webClientOptions(options),
    convoStore: false,
    extendedErrorHandler: true,
    authorize: async ({ teamId }) => {
      const { token, identity } = await workspaces.of(teamId);
      const { botId, botUser, team } = await identity.read();
      return { botToken: token, botId, botUserId: botUser, teamId: team };
    },
  });
  deferAcknowledgements(app, {
    sleep,
    withinMs: LIMITS.acknowledgeWithinMs,
    isFailed: (body) => failed.has(body),
  });
  const handling = new Set<Promise<void>>();
  app.use(async ({ next }) => {
    const handled = Promise.resolve(next());
    handling.add(handled);
    try {
      await handled;
    } finally {
      handling.delete(handled);
    }
  });
  app.error(async ({ error, body }: { error: Error; body: object }) => {
    failed.add(body);
    log.error({ err: error }, 'An event from Slack was not handled');
  });
  return {
    app,
    async idle() {
      while (handling.size > 0) await Promise.allSettled(handling);
    },
  };
}
