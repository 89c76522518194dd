import KeyvRedis, { createClient } from '@keyv/redis';
import type { Clock } from './clock.ts';
import { keyvSettings } from './keyv-settings.ts';
import { type SettingsStore, StorageError } from './storage.ts';

/** How long a settings operation is tried. */
const PATIENCE = 3_000;
const RETRY_PAUSE = 100;

export interface RedisSettings extends SettingsStore {
  close(): void;
}

/** Settings through Keyv's own Redis store. Throws StorageError `unavailable` when Redis cannot be reached. */
export async function openRedisSettings(
  url: string,
  { namespace, clock }: { namespace: string; clock: Clock },
): Promise<RedisSettings> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 10_000,
    socket: {
      connectTimeout: PATIENCE,
      reconnectStrategy: (retries) => Math.min(1_000, 50 * 2 ** Math.min(retries, 10)),
    },
  });
  // The storage's own connection tells the log.
  client.on('error', () => {});
  const store = new KeyvRedis(client, { namespace, throwOnErrors: true, throwOnConnectError: true });
  store.on('error', () => {});
  const settings = keyvSettings(store, { namespace, useKeyPrefix: false });

  async function within<Value>(operation: () => Promise<Value>): Promise<Value> {
    let cancel = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = clock.after(PATIENCE, () =>
        reject(new StorageError('unavailable', 'Redis did not answer in time.')),
      );
    });
    try {
      return await Promise.race([operation(), late]);
    } catch (error) {
      throw error instanceof StorageError
        ? error
        : new StorageError('unavailable', 'Redis cannot be reached.', error);
    } finally {
      cancel();
    }
  }

  /** Waits a little for a connection that is being made anew. Every operation here may be repeated. */
  async function run<Value>(operation: () => Promise<Value>): Promise<Value> {
    if (!client.isOpen) throw new StorageError('unavailable', 'The storage is closed.');
    const end = clock.now() + PATIENCE;
    while (!client.isReady && client.isOpen && clock.now() < end) {
      await new Promise<void>((resolve) => clock.after(RETRY_PAUSE, resolve));
    }
    return within(operation);
  }

  try {
    await within(() => client.connect());
  } catch (error) {
    client.destroy();
    throw error;
  }
  return {
    get: (key) => run(() => settings.get(key)),
    set: (key, value) => run(() => settings.set(key, value)),
    delete: (key) => run(() => settings.delete(key)),
    close: () => {
      if (client.isOpen) client.destroy();
    },
  };
}
