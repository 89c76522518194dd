/** Builds the Bolt app: its client with our retries, its receiver, and who it acts as. */
import { App, type Logger, type Receiver, webApi } from '@slack/bolt';
import type { Log } from '../../command.ts';
import type { IdentityReader } from './identity.ts';

export interface ClientOptions {
  readonly botToken: string;
  /** The Web API's base, with a slash at its end; Slack's own when left out. */
  readonly apiUrl: string | undefined;
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** A Web API client that never tries again by itself: the SDK would for half an hour. */
export function createWebClient(options: ClientOptions): webApi.WebClient {
  return new webApi.WebClient(options.botToken, webClientOptions(options));
}

function webClientOptions({ apiUrl, timeoutMs, logger }: ClientOptions): webApi.WebClientOptions {
  return {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    logger,
  };
}

export interface AppOptions extends ClientOptions {
  readonly receiver: Receiver;
  readonly identity: IdentityReader;
  readonly log: Log;
}

export interface BuiltApp {
  readonly app: App;
  /** Resolves when nothing that Slack sent is being handled. */
  idle(): Promise<void>;
}

/** Calls nobody until the receiver starts. */
export function createApp({ receiver, identity, log, ...options }: AppOptions): BuiltApp {
  const app = new App({
    receiver,
    logger: options.logger,
    clientOptions: webClientOptions(options),
    convoStore: false,
    authorize: async () => {
      const { botId, botUser, team } = await identity.read();
      return { botToken: options.botToken, botId, botUserId: botUser, teamId: team };
    },
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
  app.error(async (error) => log.error({ err: error }, 'An event from Slack was not handled'));
  return {
    app,
    async idle() {
      while (handling.size > 0) await Promise.allSettled(handling);
    },
  };
}
