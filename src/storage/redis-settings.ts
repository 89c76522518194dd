import KeyvRedis, { createClient } from '@keyv/redis';
import type { Clock } from './clock.ts';
import { keyvSettings } from './keyv-settings.ts';
import { refusalOfRedis } from './redis-errors.ts';
import { type SettingsStore, StorageError } from './storage.ts';

const RETRY_PAUSE = 20;

/** Repeated after a lost answer, it finds what it wrote itself and says again that it won. */
const COMPARE_AND_SET = `
local stored = redis.call('GET', KEYS[1])
if stored == ARGV[2] then return 1 end
if ARGV[1] == '' then
  if stored then return 0 end
elseif stored ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`;

export interface RedisSettings extends SettingsStore {
  close(): void;
}

/** Settings through Keyv's own Redis store. Throws StorageError `unavailable` when Redis cannot be reached. */
export async function openRedisSettings(
  url: string,
  {
    namespace,
    patienceMs,
    answerMs,
    firstConnectionMs,
    clock,
  }: {
    namespace: string;
    patienceMs: number;
    answerMs: number;
    firstConnectionMs: number;
    clock: Clock;
  },
): Promise<RedisSettings> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A connection that went silent is noticed and made anew.
    pingInterval: 5_000,
    socket: {
      socketTimeout: 15_000,
      connectTimeout: 3_000,
      reconnectStrategy: (retries) => Math.min(1_000, 10 * 2 ** Math.min(retries, 10)),
    },
  });
  // The storage's own connection tells the log.
  client.on('error', () => {});
  const store = new KeyvRedis(client, { namespace, throwOnErrors: true, throwOnConnectError: true });
  store.on('error', () => {});
  const settings = keyvSettings(
    {
      store,
      compareAndSet: async (key, before, after) =>
        (await client.eval(COMPARE_AND_SET, {
          keys: [store.createKeyPrefix(key, namespace)],
          arguments: [before ?? '', after],
        })) === 1,
      list: async () => {
        // A scan may tell of the same key twice.
        const found = new Map<string, string>();
        for await (const [key, text] of store.iterator<string>(namespace)) if (text) found.set(key, text);
        return [...found];
      },
    },
    { namespace, useKeyPrefix: false },
  );

  /** Rejects when Redis lets it wait for too long. */
  async function within<Value>(milliseconds: number, operation: Promise<Value>): Promise<Value> {
    let cancel = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = clock.after(milliseconds, () => reject(new Error(`No answer in ${milliseconds} ms.`)));
    });
    try {
      return await Promise.race([operation, late]);
    } finally {
      cancel();
    }
  }

  /** Tries for a while, through a connection that breaks and is made anew. Every operation here may be repeated. */
  async function run<Value>(operation: () => Promise<Value>): Promise<Value> {
    const end = clock.now() + patienceMs;
    for (;;) {
      if (!client.isOpen) throw new StorageError('unavailable', 'The storage is closed.');
      try {
        return await within(answerMs, operation());
      } catch (error) {
        const refusal = refusalOfRedis(error);
        if (refusal !== undefined) throw refusal;
        if (clock.now() >= end) throw new StorageError('unavailable', 'Redis cannot be reached.', error);
      }
      await new Promise<void>((resolve) => clock.after(RETRY_PAUSE, resolve));
    }
  }

  try {
    await within(firstConnectionMs, client.connect());
  } catch (error) {
    client.destroy();
    throw new StorageError('unavailable', 'Redis cannot be reached.', error);
  }
  return {
    get: (key) => run(() => settings.get(key)),
    set: (key, value) => run(() => settings.set(key, value)),
    delete: (key) => run(() => settings.delete(key)),
    update: async (key, change) => {
      // What the change throws is nothing that trying again would help.
      const refusals: unknown[] = [];
      const stored = await run(() =>
        settings.update(key, (value) => {
          try {
            return change(value);
          } catch (error) {
            refusals.push(error);
            return value;
          }
        }),
      );
      if (refusals.length > 0) throw refusals[0];
      return stored;
    },
    entries: () => run(() => settings.entries()),
    close: () => {
      if (client.isOpen) client.destroy();
    },
  };
}
