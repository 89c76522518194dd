import { Keyv, type KeyvStoreAdapter } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** Settings through Keyv. What the store throws is passed on, since a lost write must not look like a kept one. */
export function keyvSettings(store: KeyvStoreAdapter): SettingsStore {
  const keyv = new Keyv<unknown>({ store, namespace: 'settings', throwOnErrors: true, emitErrors: false });
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
