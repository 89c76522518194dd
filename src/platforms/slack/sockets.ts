/** Socket Mode over several connections, so that a refresh of one never leaves none. */
import { type App, type Logger, type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Log } from '../../command.ts';
import { isTokenError, retryAfterMs, slackErrorOf } from './errors.ts';

export interface SocketsOptions {
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  /** Slack allows ten. */
  readonly connections: number;
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

export interface Sockets extends Receiver {
  /** How many connections stand. */
  readonly open: number;
  /** Why there is none. */
  readonly trouble: string | undefined;
}

/** The app token will not work until an operator does something. */
const FOR_GOOD = new Set(['not_allowed_token_type', 'missing_scope', 'forbidden_for_app']);
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const GOODBYE_MS = 1000;

/**
 * A Bolt receiver. The SDK's own reconnection waits five seconds first and ends the process when a token was revoked,
 * so connections are kept up here. `start` resolves when the first one stands, or when Slack is away, and then goes on
 * trying; it throws the SDK's error when Slack does not accept the token.
 */
export function createSockets(options: SocketsOptions): Sockets {
  const { appToken, apiUrl, connections, timeoutMs, logger, log, sleep, random } = options;
  const receivers = Array.from(
    { length: connections },
    () =>
      new SocketModeReceiver({
        appToken,
        logger,
        autoReconnectEnabled: false,
        installerOptions: {
          clientOptions: {
            ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
            retryConfig: { retries: 0 },
            rejectRateLimitedCalls: true,
            timeout: timeoutMs,
          },
        },
      }),
  );
  const standing = new Set<SocketModeReceiver>();
  let stopped = false;
  let trouble: string | undefined = 'Not connected to Slack yet';

  async function keepConnected(
    receiver: SocketModeReceiver,
    tried: (error?: unknown) => void,
  ): Promise<void> {
    for (let failures = 0; !stopped; ) {
      const ended = new Promise<void>((resolve) => receiver.client.once('disconnected', () => resolve()));
      try {
        await receiver.client.start();
        failures = 0;
        standing.add(receiver);
        tried();
        await ended;
      } catch (error) {
        failures += 1;
        trouble = `Cannot connect to Slack: ${slackErrorOf(error) ?? 'it does not answer'}`;
        if (failures === 1) log.warn({ err: error }, 'No connection to Slack; trying again');
        tried(error);
        const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
        if (!stopped) await sleep(Math.max(pause, retryAfterMs(error) ?? 0));
      } finally {
        standing.delete(receiver);
      }
    }
  }

  return {
    get open() {
      return standing.size;
    },
    get trouble() {
      return standing.size > 0 ? undefined : trouble;
    },
    init(app: App) {
      for (const receiver of receivers) receiver.init(app);
    },
    async start() {
      const firstTries = receivers.map(
        (receiver) => new Promise<unknown>((resolve) => void keepConnected(receiver, resolve)),
      );
      const error = await Promise.race(firstTries);
      if (isTokenError(error) || FOR_GOOD.has(slackErrorOf(error) ?? '')) {
        stopped = true;
        throw error;
      }
    },
    async stop() {
      stopped = true;
      trouble = 'Stopped';
      const goodbyes = [...standing].map((receiver) => receiver.client.disconnect());
      await Promise.race([Promise.all(goodbyes), sleep(GOODBYE_MS)]);
    },
  };
}
