import { Keyv, type KeyvOptions, type KeyvStoreAdapter } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** Settings through Keyv. What the store throws is passed on, since a lost write must not look like a kept one. */
export function keyvSettings(
  store: KeyvStoreAdapter,
  options: Pick<KeyvOptions, 'namespace' | 'useKeyPrefix'>,
): SettingsStore {
  const keyv = new Keyv<unknown>({ ...options, store, throwOnErrors: true, emitErrors: false });
  return {
    get: async (key) => keyv.get(key),
    set: async (key, value) => {
      await keyv.set(key, value);
    },
    delete: async (key) => {
      await keyv.delete(key);
    },
  };
}
