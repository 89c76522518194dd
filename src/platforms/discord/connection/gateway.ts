/** The gateway connection: a discord.js client, and a new one whenever Discord ended the old one for good. */
import { type Client, Events, type RESTOptions, SimpleShardingStrategy, Status } from 'discord.js';
import { backoff } from '../../../core/backoff.ts';
import type { Replicas } from '../../../core/replicas.ts';
import { type ClientEvents, type ClientSettings, createClient } from './client.ts';
import { backgroundLoop, type DiscordConnection, type RetryTools, tellTrouble } from './connection.ts';
import { identifyThrottler } from './shards/identify.ts';
import type { ShardManager, ShardSession } from './shards/session.ts';

export interface ShardOptions extends ClientSettings, ClientEvents, RetryTools {
  readonly makeRequest: RESTOptions['makeRequest'];
  /** With them identify requests are made one after the other in all replicas. */
  readonly replicas?: Replicas | undefined;
  /** Of the one shard of this connection, where other replicas may go on with it. */
  readonly session?: ShardSession;
  /** A client that was ready is no more. */
  readonly onGone: (client: Client) => void;
}

const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 } as const;
/** After Discord closed for good: each try costs one of the day's 1,000 identifies, past which the token is reset. */
const RETRY_CLOSED = { ...RETRY, firstMs: 2 * 60_000 } as const;
/** How long Discord may take to say goodbye. */
const GOODBYE_MS = 2_000;

/** Connects, and tries again while Discord is away or refuses the token. The status says why it is not ready. */
export function createGatewayConnection(options: ShardOptions): DiscordConnection {
  const { token, random, sleep, log, replicas, session } = options;
  let client: Client | undefined;
  let reason = 'not started';
  let end = () => {};

  async function run(attempted: () => void): Promise<void> {
    let failures = 0;
    while (!loop.signal.aborted) {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      let retry: typeof RETRY | typeof RETRY_CLOSED = RETRY;
      end = resolve;
      let connectNoMore = () => {};
      const buildStrategy = (manager: ShardManager) => {
        // A shard connects again 500 ms after its connection broke, though its client was closed meanwhile; this is asked before.
        connectNoMore = () => {
          manager.options.retrieveSessionInfo = () => new Promise(() => {});
        };
        return session?.buildStrategy(manager) ?? new SimpleShardingStrategy(manager);
      };
      const present = createClient({
        ...options,
        ws: {
          ...(replicas && {
            buildIdentifyThrottler: identifyThrottler({ replicas, random, sleep, session }),
          }),
          buildStrategy,
        },
        onEnd: (why, closedWith) => {
          reason = why;
          if (closedWith !== undefined) retry = RETRY_CLOSED;
          resolve();
        },
      });
      client = present;
      try {
        reason = 'connecting';
        await Promise.race([present.login(token), ended]);
        const ready = new Promise((isReady) => present.once(Events.ClientReady, isReady));
        if (!present.isReady()) await Promise.race([ready, ended]);
        if (present.isReady()) failures = 0;
        attempted();
        await ended;
      } catch (error) {
        reason = tellTrouble(error, error instanceof Error ? error.message : String(error), log);
        attempted();
      }
      connectNoMore();
      await goodbye(present);
      options.onGone(present);
      failures += 1;
      await sleep(backoff({ ...retry, attempt: failures, random }), loop.signal);
    }
  }

  const loop = backgroundLoop(run);

  return {
    open: loop.open,

    async close() {
      const closed = loop.close();
      end();
      reason = 'stopped';
      await closed;
    },

    connections: () => client?.ws.shards.filter(({ status }) => status === Status.Ready).size ?? 0,

    status() {
      if (!client?.isReady()) return { ready: false, reason };
      const { shards } = client.ws;
      const waiting = shards.filter((shard) => shard.status !== Status.Ready);
      if (waiting.size === 0) return { ready: true };
      return { ready: false, reason: `${waiting.size} of ${shards.size} shards are not connected` };
    },
  };
}

/** Others may wait for the end of this connection, so it has a limit. */
async function goodbye(client: Client): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GOODBYE_MS);
  await Promise.race([client.destroy(), late]);
  clearTimeout(timer);
}
