import { Keyv } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** The store that Keyv writes to, and operations that Keyv does not have. Values are text serialised by Keyv. */
interface SettingsTable {
  /** Keyv's store interface. https://keyv.org/docs/keyv/#using-storage-adapters */
  readonly store: {
    get(key: string): Promise<string | undefined>;
    set(key: string, value: string): Promise<unknown>;
    delete(key: string): Promise<boolean>;
    clear(): Promise<unknown>;
  };
  /** Writes `after` if `before` is still stored (undefined: nothing stored). Resolves to false otherwise. */
  compareAndSet(key: string, before: string | undefined, after: string): Promise<boolean>;
  /** The keys that begin with `start`, unordered. */
  keys(start?: string): AsyncIterable<string>;
  /** The prefix that the store adds to its keys; undefined for a table of settings only. */
  readonly namespace?: string;
  /** Runs an operation of the store, possibly repeatedly. */
  readonly attempt?: <Value>(operation: () => Promise<Value>) => Promise<Value>;
}

/** Settings through Keyv. Errors of the store are thrown, so that a lost write is not taken for a stored one. */
export function keyvSettings({
  store,
  compareAndSet,
  keys,
  namespace,
  attempt = (operation) => operation(),
}: SettingsTable): SettingsStore {
  const keyv = new Keyv<unknown>({
    store,
    ...(namespace !== undefined && { namespace }),
    useKeyPrefix: false,
    throwOnErrors: true,
    emitErrors: false,
  });
  return {
    get: (key) => attempt(() => keyv.get(key)),
    set: async (key, value) => {
      await attempt(() => keyv.set(key, value));
    },
    delete: async (key) => {
      await attempt(() => keyv.delete(key));
    },
    update: async (key, change) => {
      for (;;) {
        const text = await attempt(() => store.get(key));
        const before = text === undefined ? undefined : (await keyv.deserializeData<unknown>(text))?.value;
        const after = change(before);
        if (after === before) return before;
        const written = await keyv.serializeData({ value: after, expires: undefined });
        if (typeof written !== 'string') throw new TypeError('Keyv did not serialise a setting to text');
        if (await attempt(() => compareAndSet(key, text, written))) return after;
      }
    },
    keys,
  };
}
