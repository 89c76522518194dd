/** The connection to Discord, which one replica holds at a time, and the REST client, which all of them use. */

import { type Client, Events, Status } from 'discord.js';
import type { System } from '../../../core/system.ts';
import { backoff } from '../../../core/util/backoff.ts';
import type { HeldLock, WithLock } from '../../../core/util/lock.ts';
import type { Readiness } from '../../../core/web/platform-routes.ts';
import { isTokenRefused, TOKEN_REFUSED } from '../errors.ts';
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
  /** Resolves when the first attempt has succeeded or failed, or when another replica is connected; later ones go on by themselves. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Ready also while another replica is connected. */
  status(): Readiness;
  /** How many shards are connected. */
  connections(): number;
  /** The present one: a client that Discord ended is replaced. It knows guilds while it is connected. */
  client(): Client;
}

/** After this, another replica takes the place of one that died. */
const LEASE_MS = 15_000;
/** After storage did not answer. */
const ASK_AGAIN_MS = 1_000;
const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 } as const;
/** After Discord closed for good: each try costs one of the day's 1,000 identifies, past which the token is reset. */
const RETRY_CLOSED = { ...RETRY, firstMs: 2 * 60_000 } as const;
/** How long Discord may take to say goodbye. */
const GOODBYE_MS = 2_000;

/** Connects, and tries again while Discord is away or refuses the token. The status says why it is not ready. */
export function createDiscordConnection(options: ConnectionOptions): DiscordConnection {
  const { token, shards, withLock, random, sleep, log } = options;
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let reason = 'not started';
  let isStandingBy = false;
  let lock: HeldLock | undefined;
  let present = prepare();

  function prepare() {
    const over = new AbortController();
    const { promise: ended, resolve: end } = Promise.withResolvers<{ closedWith: number | undefined }>();
    const client = createClient({
      ...options,
      ...whileHeld(options, () => lock?.isHeld() ?? false),
      over: over.signal,
      onEnd: (why, closedWith) => {
        reason = why;
        end({ closedWith });
      },
    });
    return { client, over, ended };
  }

  async function run(attempted: () => void): Promise<void> {
    const task = shards ? `discord ${shards.ids.join(' ')} of ${shards.total}` : 'discord';
    const onWaiting = () => {
      isStandingBy = true;
      attempted();
    };
    while (!closing.signal.aborted) {
      try {
        const waiting = { signal: closing.signal, lockMs: LEASE_MS, onWaiting };
        await withLock(task, (held) => stayConnected(held, attempted), waiting);
      } catch (error) {
        if (closing.signal.aborted) break;
        log.warn({ err: error }, 'Could not determine which replica connects to Discord');
        reason = 'storage is unavailable, so no replica can be chosen to connect';
        await sleep(ASK_AGAIN_MS, closing.signal);
      }
      isStandingBy = false;
      attempted();
    }
    reason = 'stopped';
  }

  async function stayConnected(held: HeldLock, attempted: () => void): Promise<void> {
    lock = held;
    isStandingBy = false;
    const over = AbortSignal.any([closing.signal, held.lost]);
    let failures = 0;
    while (!over.aborted) {
      const { wasReady, closedWith } = await connect(over, attempted);
      failures = wasReady ? 1 : failures + 1;
      const retry = closedWith === undefined ? RETRY : RETRY_CLOSED;
      await sleep(backoff({ ...retry, attempt: failures, random }), over);
    }
    lock = undefined;
    if (!closing.signal.aborted)
      log.warn({}, 'Lost the Discord connection lock; another replica may have connected');
  }

  /** Resolves when the connection is over, or there was none. */
  async function connect(signal: AbortSignal, attempted: () => void) {
    const { client, over, ended } = present;
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
      attempted();
      end = await Promise.race([ended, stopped]);
    } catch (error) {
      const isRefused = isTokenRefused(error);
      reason = isRefused ? TOKEN_REFUSED : String(error instanceof Error ? error.message : error);
      log.warn(isRefused ? {} : { err: error }, `Discord connection failed: ${reason}`);
      attempted();
    }
    over.abort();
    present = prepare();
    await goodbye(client);
    return { wasReady, closedWith: end?.closedWith };
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

    client: () => present.client,

    connections: () => present.client.ws.shards.filter(({ status }) => status === Status.Ready).size,

    status() {
      if (isStandingBy) return { ready: true };
      if (!present.client.isReady()) return { ready: false, reason };
      const { shards: known } = present.client.ws;
      const waiting = known.filter(({ status }) => status !== Status.Ready);
      if (waiting.size === 0) return { ready: true };
      return { ready: false, reason: `${waiting.size} of ${known.size} shards are not connected` };
    },
  };
}

/** A process that was suspended may have events left that another replica handles by now. */
function whileHeld(
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

/** Others may wait for the end of this connection, so it has a limit. */
async function goodbye(client: Client): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GOODBYE_MS);
  await Promise.race([client.destroy(), late]);
  clearTimeout(timer);
}
