import { Keyv } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** Where Keyv writes settings, and what settings need beyond Keyv. Values are text as Keyv wrote it. */
interface SettingsTable {
  /** What Keyv requires of a store. https://keyv.org/docs/keyv/#using-storage-adapters */
  readonly store: {
    get(key: string): Promise<string | undefined>;
    set(key: string, value: string): Promise<unknown>;
    delete(key: string): Promise<boolean>;
    clear(): Promise<unknown>;
  };
  /** Writes `after` if `before` is still stored (undefined: if nothing is); false if not. */
  compareAndSet(key: string, before: string | undefined, after: string): Promise<boolean>;
  /** The keys that begin like this, in no order. */
  keys(start?: string): AsyncIterable<string>;
  /** Keyv sets it on the store, which puts it before its keys; left out where the table has settings alone. */
  readonly namespace?: string;
  /** Runs an operation of the store, and may repeat it. */
  readonly attempt?: <Value>(operation: () => Promise<Value>) => Promise<Value>;
}

/** Settings through Keyv. What the store throws is passed on, since a lost write must not pass for a kept one. */
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
