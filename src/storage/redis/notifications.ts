/** Notifications between replicas over Redis pub/sub. */
import { EventEmitter } from 'node:events';
import type { Notifications } from '../storage.ts';
import type { RedisTools } from './connection.ts';

export function redisNotifications({ connection, keys, log }: RedisTools): Notifications {
  const listeners = new EventEmitter().setMaxListeners(0);
  // A subscribed connection accepts no other commands. It resubscribes automatically.
  const subscriber = connection.duplicate();
  subscriber
    .connect()
    .then(() => subscriber.subscribe(keys.notifications, (job) => listeners.emit(job)))
    .catch((error: unknown) => {
      log.debug({ err: error }, 'Could not subscribe to notifications');
    });
  return {
    publish: async (job) => {
      await connection.run((redis) => redis.publish(keys.notifications, job));
    },
    subscribe: (job, listener) => {
      listeners.on(job, listener);
      return () => listeners.off(job, listener);
    },
  };
}
