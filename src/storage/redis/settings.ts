import KeyvRedis from '@keyv/redis';
import { keyvSettings } from '../keyv-settings.ts';
import type { SettingsStore } from '../storage.ts';
import type { RedisTools } from './connection.ts';

/** Safe to repeat after a lost answer: if the new value is stored already, returns 1 again. */
const COMPARE_AND_SET = `
local stored = redis.call('GET', KEYS[1])
if stored == ARGV[1] then return 1 end
if stored ~= (ARGV[2] or false) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1
`;

/** Settings through Keyv's Redis store. */
export function redisSettings({ connection, log, keys: { settings: namespace } }: RedisTools): SettingsStore {
  const store = new KeyvRedis<string>(connection.client, {
    namespace,
    throwOnErrors: true,
    throwOnConnectError: true,
  });
  // Operations reject, and the connection logs errors.
  store.on('error', () => {});
  return keyvSettings({
    log,
    store,
    namespace,
    attempt: (operation) => connection.run(operation),
    compareAndSet: async (key, before, after) => {
      const keys = [store.createKeyPrefix(key, namespace)];
      return (
        (await connection.evaluate(
          COMPARE_AND_SET,
          keys,
          before === undefined ? [after] : [after, before],
        )) === 1
      );
    },
    // Keyv's own iterator asks for ten keys at a time, and most keys are those of jobs.
    async *keys(start = '') {
      const { length } = store.createKeyPrefix('', namespace);
      for await (const name of connection.keys(store.createKeyPrefix(start, namespace)))
        yield name.slice(length);
    },
  });
}
