/** Discord lets the shards of one bot identify one after the other, whichever replica they belong to. */
import type { IIdentifyThrottler } from 'discord.js';
import type { Replicas } from '../../../../core/replicas.ts';
import type { RetryTools } from '../connection.ts';
import type { ShardManager, ShardSession } from './session.ts';

/** Five seconds, and a little for the way: https://docs.discord.com/developers/events/gateway#rate-limiting */
const IDENTIFY_EVERY_MS = 5_250;
/** While storage is away. */
const ASK_AGAIN_MS = 1_000;
/** Those that wait do not all ask again in the same millisecond. */
const SPREAD_MS = 250;

interface ThrottlerOptions extends Pick<RetryTools, 'random' | 'sleep'> {
  readonly replicas: Pick<Replicas, 'pass'>;
  readonly session: ShardSession | undefined;
}

/** For `ws.buildIdentifyThrottler`: shards of one remainder by `max_concurrency` share a gate. */
export const identifyThrottler =
  ({ replicas, random, sleep, session }: ThrottlerOptions) =>
  async (manager: ShardManager): Promise<IIdentifyThrottler> => {
    const { session_start_limit: limit } = await manager.fetchGatewayInformation();
    return {
      async waitForIdentify(shard, signal) {
        const gate = `discord identify ${shard % limit.max_concurrency}`;
        for (;;) {
          const wait = await replicas.pass(gate, IDENTIFY_EVERY_MS).catch(() => ASK_AGAIN_MS);
          if (wait === 0) break;
          await sleep(wait + random() * SPREAD_MS, signal);
          signal.throwIfAborted();
        }
        await session?.held();
      },
    };
  };
