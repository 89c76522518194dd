import { Keyv, type KeyvOptions, type KeyvStoreAdapter } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** What settings need beyond Keyv's own interface. Keys are the store's, and values are text as Keyv wrote it. */
export interface AtomicStore {
  /** Writes `after` if `before` is still stored (undefined: if nothing is); false if not. */
  compareAndSet(key: string, before: string | undefined, after: string): Promise<boolean>;
  /** Takes as long as it takes: each of its operations is tried again by itself. */
  list(): Promise<(readonly [key: string, text: string])[]>;
}

/** In JSON: a value that is a text and begins with a colon. It finds some names of fields too, which does no harm. */
const TEXT_WITH_COLON = /[:,[]":/;

type Attempt = <Value>(operation: () => Promise<Value>) => Promise<Value>;

/**
 * Settings through Keyv. What the store throws is passed on, since a lost write must not pass for a kept one. `attempt`
 * runs each operation of the store, and may repeat it.
 */
export function keyvSettings(
  store: KeyvStoreAdapter,
  atomic: AtomicStore,
  options: Required<Pick<KeyvOptions, 'namespace'>> & Pick<KeyvOptions, 'useKeyPrefix'>,
  attempt: Attempt = (operation) => operation(),
): SettingsStore {
  const keyv = new Keyv<unknown>({ ...options, store, throwOnErrors: true, emitErrors: false });
  const { serialize } = keyv;
  // The same text in a fifth of the time and the memory: Keyv writes JSON in which texts that begin with a colon have one more.
  keyv.serialize = (data) => {
    const text = JSON.stringify(data);
    return serialize !== undefined && TEXT_WITH_COLON.test(text) ? serialize(data) : text;
  };
  const prefix = options.useKeyPrefix === false ? '' : `${options.namespace}:`;
  const read = async (text: string | undefined): Promise<unknown> =>
    text === undefined ? undefined : (await keyv.deserializeData<unknown>(text))?.value;
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
        // Stores answer a missing key with null or undefined.
        const text = (await attempt(async () => store.get<string>(prefix + key))) ?? undefined;
        // The store returns the text that Keyv gave it; Keyv's type allows more.
        const before = await read(text as string | undefined);
        const after = change(before);
        if (after === before) return before;
        const written = await keyv.serializeData({ value: after, expires: undefined });
        if (typeof written !== 'string')
          throw new TypeError('Keyv wrote a setting as something else than text');
        if (await attempt(() => atomic.compareAndSet(prefix + key, text as string | undefined, written)))
          return after;
      }
    },
    entries: async () =>
      Promise.all(
        (await atomic.list())
          .filter(([key]) => key.startsWith(prefix))
          .map(async ([key, text]) => [key.slice(prefix.length), await read(text)] as const),
      ),
  };
}
