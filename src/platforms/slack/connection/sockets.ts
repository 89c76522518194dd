/** Socket Mode over several connections, so that a refresh of one never leaves none. */
import { type App, SocketModeReceiver } from '@slack/bolt';
import { z } from 'zod';
import { backoff } from '../../../core/backoff.ts';
import { isTokenError, refusedToken, retryAfterMs, slackErrorOf, TOKEN_RETRY_MS } from '../errors.ts';
import { webClientOptions } from './client.ts';
import type { Connection, ConnectionOptions, SocketConnection } from './connection.ts';

/** The app token will not work until an operator does something. */
const FOR_GOOD = new Set(['not_allowed_token_type', 'missing_scope', 'forbidden_for_app']);
const isRefused = (error: unknown): boolean => isTokenError(error) || FOR_GOOD.has(slackErrorOf(error) ?? '');
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const GOODBYE_MS = 1000;
const helloSchema = z.object({ type: z.literal('hello'), num_connections: z.number() });
/** The SDK's own limit is the one of any HTTP response: five minutes. */
const OPEN_WITHIN_MS = 10_000;

/**
 * The SDK's own reconnection waits five seconds first and ends the process when a token was revoked, so this reconnects
 * by itself. `start` resolves when the first connection is open or has failed, and then goes on trying.
 */
export function createSockets(
  { appToken, connections = 2, openWithinMs = OPEN_WITHIN_MS }: SocketConnection,
  { client, log, sleep, random, measure }: ConnectionOptions,
): Connection {
  const receivers = Array.from(
    { length: connections },
    () =>
      new SocketModeReceiver({
        appToken,
        logger: client.logger,
        autoReconnectEnabled: false,
        installerOptions: { clientOptions: webClientOptions(client) },
      }),
  );
  for (const { client } of receivers) endWhatDoesNotOpen(client, openWithinMs);
  for (const { client: socket } of receivers)
    socket.on('ws_message', (frame: unknown) => {
      const hello = readHello(frame);
      if (hello !== undefined) measure?.('minstrel_slack_app_connections', {}, hello.num_connections);
    });
  const open = new Set<SocketModeReceiver>();
  const stopping = new AbortController();
  let trouble = 'connecting';

  /** Each trouble once, however many sockets have it. */
  function tell(error: unknown): void {
    const before = trouble;
    const code = slackErrorOf(error);
    trouble = isRefused(error)
      ? refusedToken('SLACK_APP_TOKEN', error)
      : `cannot connect: ${code ?? 'it does not answer'}`;
    if (trouble === before) return;
    if (isRefused(error)) log.error({}, trouble);
    else log.warn({ err: error }, 'No connection to Slack; trying again');
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
        if (!stopping.signal.aborted) measure?.('minstrel_platform_reconnects_total', { platform: 'slack' });
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
    async start() {
      const firstTries = receivers.map(
        (receiver) => new Promise<void>((resolve) => void keepConnected(receiver, resolve)),
      );
      await Promise.race(firstTries);
    },
    refuse() {},
    async stop() {
      stopping.abort();
      trouble = 'stopped';
      // Also those that are opening. One that Slack has not given an address yet ends itself when it is open.
      const goodbyes = receivers.map((receiver) => receiver.client.disconnect());
      await Promise.race([Promise.all(goodbyes), sleep(GOODBYE_MS)]);
    },
  };
}

/** What was ended so is tried again like any connection that broke. */
function endWhatDoesNotOpen(client: SocketModeReceiver['client'], withinMs: number): void {
  let overdue: NodeJS.Timeout | undefined;
  client.on('connecting', () => {
    overdue = setTimeout(() => void client.disconnect(), withinMs).unref();
  });
  client.on('connected', () => clearTimeout(overdue));
  client.on('disconnected', () => clearTimeout(overdue));
}

/** The first frame of a connection; the SDK passes each as it came. Longer ones are events, and are not parsed twice. */
function readHello(frame: unknown): z.infer<typeof helloSchema> | undefined {
  const isText = typeof frame === 'string' || frame instanceof Buffer;
  if (!isText || frame.length > 1_000 || !frame.includes('"hello"')) return undefined;
  try {
    return helloSchema.safeParse(JSON.parse(frame.toString())).data;
  } catch {
    return undefined;
  }
}
