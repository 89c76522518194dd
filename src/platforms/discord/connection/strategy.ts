/** How @discordjs/ws opens shards, with two differences from its own way: a faulty event ends nothing, and the end is the end. */
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

/** @param over aborts when the client is given up */
export function createStrategy(manager: WebSocketManager, over: AbortSignal, log: Log): IShardingStrategy {
  const shards = new Map<number, WebSocketShard>();

  function listen(shard: WebSocketShard, shardId: number): void {
    // All of its events are handed on as they are, so that their types do not matter.
    const emit = manager.emit.bind(manager) as (event: WebSocketShardEvents, payload: object) => void;
    for (const event of Object.values(WebSocketShardEvents))
      shard.on(event, (payload?: object) => {
        if (over.aborted) {
          // A shard connects again half a second after its connection broke, even if it was destroyed meanwhile.
          if (event === WebSocketShardEvents.Hello) void shard.destroy();
          return;
        }
        try {
          emit(event, { ...payload, shardId });
        } catch (error) {
          // discord.js makes objects of events here. Nothing catches what it throws, and the process would end.
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
      if (!over.aborted) await Promise.all([...shards.values()].map((shard) => shard.connect()));
    },
    async destroy(options) {
      // One that is connecting is destroyed once it is: earlier it would leave a failure of its socket to nobody.
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
      throw new TypeError('discord.js tells the status of its shards');
    },
  };
}
