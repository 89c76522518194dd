import { Keyv, type KeyvStoreAdapter } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** What settings need beyond Keyv's own interface. Values are text as Keyv wrote it. */
export interface AtomicStore {
  /** Writes `after` if `before` is still stored (undefined: if nothing is); false if not. */
  compareAndSet(key: string, before: string | undefined, after: string): Promise<boolean>;
  /** All keys, in no order. */
  keys(): AsyncIterable<string>;
}

type Attempt = <Value>(operation: () => Promise<Value>) => Promise<Value>;

/**
 * Settings through Keyv. What the store throws is passed on, since a lost write must not pass for a kept one. `attempt`
 * runs each operation of the store, and may repeat it.
 */
export function keyvSettings(
  store: KeyvStoreAdapter,
  atomic: AtomicStore,
  namespace: string,
  attempt: Attempt = (operation) => operation(),
): SettingsStore {
  const keyv = new Keyv<unknown>({
    store,
    namespace,
    // The store has settings alone, or puts the namespace before its keys itself.
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
        // Stores answer a missing key with null or undefined, and else with the text that Keyv gave them.
        const text = ((await attempt(async () => store.get<string>(key))) ?? undefined) as string | undefined;
        const before = text === undefined ? undefined : (await keyv.deserializeData<unknown>(text))?.value;
        const after = change(before);
        if (after === before) return before;
        const written = await keyv.serializeData({ value: after, expires: undefined });
        if (typeof written !== 'string')
          throw new TypeError('Keyv wrote a setting as something else than text');
        if (await attempt(() => atomic.compareAndSet(key, text, written))) return after;
      }
    },
    keys: () => atomic.keys(),
  };
}
