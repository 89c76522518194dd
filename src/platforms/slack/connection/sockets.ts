/** Socket Mode over several connections, so that a refresh of one never leaves none. */
import { type App, SocketModeReceiver } from '@slack/bolt';
import { backoff } from '../../../core/util/backoff.ts';
import { isTokenError, refusedToken, retryAfterMs, slackErrorOf, TOKEN_RETRY_MS } from '../errors.ts';
import { webClientOptions } from './client.ts';
import type { Connection, ConnectionOptions, SocketConnection } from './options.ts';

/** The app token will not work until an operator does something. */
const FOR_GOOD = new Set(['not_allowed_token_type', 'missing_scope', 'forbidden_for_app']);
const isRefused = (error: unknown): boolean => isTokenError(error) || FOR_GOOD.has(slackErrorOf(error) ?? '');
/** Slack's refreshing of one leaves another; Slack allows ten. */
const CONNECTIONS = 2;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const GOODBYE_MS = 1000;

/**
 * The SDK's own reconnection waits five seconds first, and an error of Slack in it ends the process, so this reconnects by
 * itself. `start` resolves when the first connection is open or has failed, and then goes on trying.
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
        // What was not handled is not acknowledged: Slack sends events again.
        processEventErrorHandler: async () => false,
      }),
  );
  const open = new Set<SocketModeReceiver>();
  const stopping = new AbortController();
  let trouble = 'connecting';
  let started: Promise<void> | undefined;

  function tell(error: unknown): void {
    const before = trouble;
    const code = slackErrorOf(error);
    trouble = isRefused(error)
      ? refusedToken('SLACK_APP_TOKEN', error)
      : `cannot connect: ${code ?? 'no response from Slack'}`;
    if (trouble === before) return;
    if (isRefused(error)) log.error({}, trouble);
    else log.warn({ err: error }, 'Slack connection failed; retrying');
  }

  async function keepConnected(receiver: SocketModeReceiver, tried: () => void): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const ended = new Promise<void>((resolve) => receiver.client.once('disconnected', () => resolve()));
      try {
        await receiver.client.start();
        failures = 0;
        trouble = 'connecting';
        tried();
        if (stopping.signal.aborted) return await receiver.client.disconnect();
        open.add(receiver);
        await ended;
        if (!stopping.signal.aborted) measure('minstrel_platform_reconnects_total', { platform: 'slack' });
      } catch (error) {
        failures += 1;
        tell(error);
        tried();
        const options = { attempt: failures, firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, random };
        const wait = isRefused(error) ? TOKEN_RETRY_MS : Math.max(backoff(options), retryAfterMs(error) ?? 0);
        await sleep(wait, stopping.signal);
      } finally {
        open.delete(receiver);
      }
    }
  }

  return {
    get trouble() {
      return open.size > 0 ? undefined : trouble;
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
    refuse() {},
    async stop() {
      stopping.abort();
      trouble = 'stopped';
      // Also those that are opening. One that Slack has not given an address yet ends itself when it is open.
      const closed = new AbortController();
      const goodbyes = receivers.map((receiver) => receiver.client.disconnect());
      await Promise.race([Promise.all(goodbyes), sleep(GOODBYE_MS, closed.signal)]);
      closed.abort();
    },
  };
}
