/** The connection to Discord, held by one replica at a time, and the REST client, used by all. */

import { type Client, Events, Status } from 'discord.js';
import type { System } from '../../../core/system.ts';
import { backoff } from '../../../core/util/backoff.ts';
import { connectionFault } from '../../../core/util/connection-fault.ts';
import type { HeldLock, WithLock } from '../../../core/util/lock.ts';
import type { Readiness } from '../../../core/web/platform-routes.ts';
import { isTokenRejected, TOKEN_REJECTED } from '../errors.ts';
import { type ClientEvents, type ClientSettings, createClient } from './client.ts';

export type RetryTools = Pick<System, 'random' | 'sleep' | 'log'>;

interface ConnectionOptions
  extends ClientSettings,
    ClientEvents,
    RetryTools,
    Pick<Parameters<typeof createClient>[0], 'onResponse'> {
  readonly withLock: WithLock;
}

export interface DiscordConnection {
  /** Resolves after the first attempt, or when another replica is connected. Retries run in the background. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Also ready while another replica is connected. */
  status(): Readiness;
  /** The number of connected shards. */
  connections(): number;
  /** The current client; it is replaced when Discord ends it. It knows guilds only while connected. */
  client(): Client;
}

/** How long other replicas wait before replacing one that crashed. */
const LEASE_MS = 15_000;
/** The delay before retrying when storage is down. */
const STORAGE_RETRY_MS = 1_000;
const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 } as const;
/** Slower after a permanent close: Discord allows 1,000 identifies a day, and resets the token after that. */
const RETRY_CLOSED = { ...RETRY, firstMs: 2 * 60_000 } as const;
/** How long closing the connection may take. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Connects, and retries while Discord is unavailable or rejects the token. The status has the reason. */
export function createDiscordConnection(options: ConnectionOptions): DiscordConnection {
  const { token, shards, withLock, random, sleep, log } = options;
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let reason = 'not started';
  let isStandby = false;
  let lock: HeldLock | undefined;
  let current = prepare();

  function prepare() {
    const discarded = new AbortController();
    const { promise: ended, resolve: end } = Promise.withResolvers<{ closeCode: number | undefined }>();
    const client = createClient({
      ...options,
      ...onlyWhileHeld(options, () => lock?.isHeld() ?? false),
      discarded: discarded.signal,
      onEnd: (cause, closeCode) => {
        reason = cause;
        end({ closeCode });
      },
    });
    return { client, discarded, ended };
  }

  async function run(onAttempt: () => void): Promise<void> {
    const task = shards ? `discord ${shards.ids.join(' ')} of ${shards.total}` : 'discord';
    const onWaiting = () => {
      isStandby = true;
      onAttempt();
    };
    while (!closing.signal.aborted) {
      try {
        const lockOptions = { signal: closing.signal, lockMs: LEASE_MS, onWaiting };
        await withLock(task, (heldLock) => stayConnected(heldLock, onAttempt), lockOptions);
      } catch (error) {
        if (closing.signal.aborted) break;
        log.warn({ err: error }, 'Could not determine which replica connects to Discord');
        reason = 'storage is unavailable, so no replica can be chosen to connect';
        await sleep(STORAGE_RETRY_MS, closing.signal);
      }
      isStandby = false;
      onAttempt();
    }
    reason = 'stopped';
  }

  async function stayConnected(heldLock: HeldLock, onAttempt: () => void): Promise<void> {
    lock = heldLock;
    isStandby = false;
    const stopSignal = AbortSignal.any([closing.signal, heldLock.lost]);
    let failures = 0;
    while (!stopSignal.aborted) {
      const { wasReady, closeCode } = await connect(stopSignal, onAttempt);
      failures = wasReady ? 1 : failures + 1;
      const retry = closeCode === undefined ? RETRY : RETRY_CLOSED;
      await sleep(backoff({ ...retry, attempt: failures, random }), stopSignal);
    }
    lock = undefined;
    if (!closing.signal.aborted)
      log.warn({}, 'Lost the Discord connection lock; another replica may have connected');
  }

  /** Resolves when the connection ends or cannot be opened. */
  async function connect(signal: AbortSignal, onAttempt: () => void) {
    const { client, discarded, ended } = current;
    const stopped = new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => resolve(undefined), { once: true }),
    );
    let wasReady = false;
    let end: Awaited<typeof ended> | undefined;
    try {
      reason = 'connecting';
      const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
      await Promise.race([client.login(token).then(() => ready), ended, stopped]);
      wasReady = client.isReady();
      onAttempt();
      end = await Promise.race([ended, stopped]);
    } catch (error) {
      const isRejected = isTokenRejected(error);
      const fault = connectionFault(error)?.reason ?? String(error instanceof Error ? error.message : error);
      reason = isRejected ? TOKEN_REJECTED : fault;
      log.warn(isRejected ? {} : { err: error }, `Discord connection failed: ${reason}`);
      onAttempt();
    }
    discarded.abort();
    current = prepare();
    await closeClient(client);
    return { wasReady, closeCode: end?.closeCode };
  }

  return {
    open: () =>
      new Promise<void>((resolve) => {
        running ??= run(resolve);
      }),

    async close() {
      closing.abort();
      await running;
      reason = 'stopped';
    },

    client: () => current.client,

    connections: () => current.client.ws.shards.filter(({ status }) => status === Status.Ready).size,

    status() {
      if (isStandby) return { ready: true };
      if (!current.client.isReady()) return { ready: false, reason };
      const { shards: all } = current.client.ws;
      const disconnected = all.filter(({ status }) => status !== Status.Ready);
      if (disconnected.size === 0) return { ready: true };
      return { ready: false, reason: `${disconnected.size} of ${all.size} shards are not connected` };
    },
  };
}

/** Drops events that another replica handles, such as those queued while this process was suspended. */
function onlyWhileHeld(
  { onReady, onInteraction, onMessage, onEdit, onDeletion }: ClientEvents,
  isHeld: () => boolean,
) {
  const only =
    <Event>(handle: (event: Event) => void) =>
    (event: Event): void => {
      if (isHeld()) handle(event);
    };
  return {
    onReady: only(onReady),
    onInteraction: only(onInteraction),
    onMessage: only(onMessage),
    onEdit: only(onEdit),
    onDeletion: only(onDeletion),
  };
}

/** Has a time limit, because another replica may be waiting to connect. */
async function closeClient(client: Client): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([client.destroy(), timedOut]);
  clearTimeout(timer);
}
