/** Socket Mode over several connections, so that at least one stays open while another is refreshed. */
import { type App, SocketModeReceiver } from '@slack/bolt';
import { backoff } from '../../../core/util/backoff.ts';
import { isTokenError, rejectedToken, retryAfterMs, slackErrorOf, TOKEN_RETRY_MS } from '../errors.ts';
import { webClientOptions } from './client.ts';
import type { Connection, ConnectionOptions, SocketConnection } from './options.ts';

/** The app token stays invalid until the operator replaces it. */
const PERMANENT_ERRORS = new Set(['not_allowed_token_type', 'missing_scope', 'forbidden_for_app']);
const isPermanent = (error: unknown): boolean =>
  isTokenError(error) || PERMANENT_ERRORS.has(slackErrorOf(error) ?? '');
/** When Slack refreshes one connection, the other stays open. Slack allows ten. */
const CONNECTIONS = 2;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Reconnects without the SDK, which waits five seconds first and ends the process on some errors. `start` resolves when the
 * first connection is open or has failed, and retries in the background.
 */
export function createSockets(
  { appToken }: SocketConnection,
  { client, log, sleep, random, measure }: ConnectionOptions,
): Connection {
  const receivers = Array.from(
    { length: CONNECTIONS },
    () =>
      new SocketModeReceiver({
        appToken,
        logger: client.logger,
        autoReconnectEnabled: false,
        installerOptions: { clientOptions: webClientOptions(client) },
        // A failed event is not acknowledged, so Slack sends it again.
        processEventErrorHandler: async () => false,
      }),
  );
  const open = new Set<SocketModeReceiver>();
  const stopping = new AbortController();
  let problem = 'connecting';
  let started: Promise<void> | undefined;

  function recordFailure(error: unknown): void {
    const previous = problem;
    const code = slackErrorOf(error);
    problem = isPermanent(error)
      ? rejectedToken('SLACK_APP_TOKEN', error)
      : `cannot connect: ${code ?? 'no response from Slack'}`;
    if (problem === previous) return;
    if (isPermanent(error)) log.error({}, problem);
    else log.warn({ err: error }, 'Slack connection failed; retrying');
  }

  async function keepConnected(receiver: SocketModeReceiver, onAttempt: () => void): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const disconnected = new Promise<void>((resolve) =>
        receiver.client.once('disconnected', () => resolve()),
      );
      try {
        await receiver.client.start();
        failures = 0;
        problem = 'connecting';
        onAttempt();
        if (stopping.signal.aborted) return await receiver.client.disconnect();
        open.add(receiver);
        await disconnected;
        if (!stopping.signal.aborted) measure('minstrel_platform_reconnects_total', { platform: 'slack' });
      } catch (error) {
        failures += 1;
        recordFailure(error);
        onAttempt();
        const options = { attempt: failures, firstMs: FIRST_WAIT_MS, longestMs: MAX_WAIT_MS, random };
        const wait = isPermanent(error)
          ? TOKEN_RETRY_MS
          : Math.max(backoff(options), retryAfterMs(error) ?? 0);
        await sleep(wait, stopping.signal);
      } finally {
        open.delete(receiver);
      }
    }
  }

  return {
    get problem() {
      return open.size > 0 ? undefined : problem;
    },
    get connections() {
      return open.size;
    },
    init(app: App) {
      for (const receiver of receivers) receiver.init(app);
    },
    start() {
      started ??= Promise.race(
        receivers.map((receiver) => new Promise<void>((resolve) => void keepConnected(receiver, resolve))),
      );
      return started;
    },
    drain() {},
    async stop() {
      stopping.abort();
      problem = 'stopped';
      // Includes connections that are still opening. One without an address yet closes itself once it is open.
      const allClosed = new AbortController();
      const closing = receivers.map((receiver) => receiver.client.disconnect());
      await Promise.race([Promise.all(closing), sleep(CLOSE_TIMEOUT_MS, allClosed.signal)]);
      allClosed.abort();
    },
  };
}
