/** Opens shards as @discordjs/ws does, but survives unreadable events and never reconnects a discarded client. */
import {
  type IShardingStrategy,
  managerToFetchingStrategyOptions,
  SimpleContextFetchingStrategy,
  type WebSocketManager,
  WebSocketShard,
  WebSocketShardEvents,
  WebSocketShardStatus,
} from '@discordjs/ws';
import type { Log } from '../../../core/telemetry/log.ts';

/** @param discarded aborts when the client is discarded */
export function createStrategy(
  manager: WebSocketManager,
  discarded: AbortSignal,
  log: Log,
): IShardingStrategy {
  const shards = new Map<number, WebSocketShard>();

  function listen(shard: WebSocketShard, shardId: number): void {
    // Events are passed on unchanged, so their types do not matter.
    const emit = manager.emit.bind(manager) as (event: WebSocketShardEvents, payload: object) => void;
    for (const event of Object.values(WebSocketShardEvents))
      shard.on(event, (payload?: object) => {
        if (discarded.aborted) {
          // A shard reconnects half a second after its connection breaks, even if it was destroyed in the meantime.
          if (event === WebSocketShardEvents.Hello) void shard.destroy();
          return;
        }
        try {
          emit(event, { ...payload, shardId });
        } catch (error) {
          // discord.js parses events here. An uncaught error would end the process.
          log.error({ err: error, shard: shardId }, 'Dropped an unreadable Discord event');
        }
      });
  }

  return {
    async spawn(ids) {
      const options = await managerToFetchingStrategyOptions(manager);
      for (const id of ids) {
        const shard = new WebSocketShard(new SimpleContextFetchingStrategy(manager, options), id);
        listen(shard, id);
        shards.set(id, shard);
      }
    },
    async connect() {
      if (!discarded.aborted) await Promise.all([...shards.values()].map((shard) => shard.connect()));
    },
    async destroy(options) {
      // A connecting shard is destroyed on its Hello: before that, an error of its socket would be unhandled.
      const connected = [...shards.values()].filter(
        ({ status }) => status !== WebSocketShardStatus.Connecting,
      );
      await Promise.all(connected.map((shard) => shard.destroy(options)));
      shards.clear();
    },
    async send(id, payload) {
      await shards.get(id)?.send(payload);
    },
    fetchStatus() {
      throw new TypeError('Read the shard status from discord.js instead');
    },
  };
}
