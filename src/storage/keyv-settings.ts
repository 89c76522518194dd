import { Keyv, type KeyvOptions, type KeyvStoreAdapter } from 'keyv';
import type { SettingsStore } from './storage.ts';

/** What settings need beyond Keyv's own interface. Keys are the store's, and values are text as Keyv wrote it. */
export interface AtomicStore {
  readonly store: KeyvStoreAdapter;
  /** Writes `after` if `before` still stands (undefined: if nothing does); false if not. */
  readonly compareAndSet: (key: string, before: string | undefined, after: string) => Promise<boolean>;
  readonly list: () => Promise<(readonly [key: string, text: string])[]>;
}

/** Settings through Keyv. What the store throws is passed on, since a lost write must not look like a kept one. */
export function keyvSettings(
  { store, compareAndSet, list }: AtomicStore,
  options: Required<Pick<KeyvOptions, 'namespace'>> & Pick<KeyvOptions, 'useKeyPrefix'>,
): SettingsStore {
  const keyv = new Keyv<unknown>({ ...options, store, throwOnErrors: true, emitErrors: false });
  const prefix = options.useKeyPrefix === false ? '' : `${options.namespace}:`;
  const read = async (text: string | undefined): Promise<unknown> =>
    text === undefined ? undefined : (await keyv.deserializeData<unknown>(text))?.value;
  return {
    get: async (key) => keyv.get(key),
    set: async (key, value) => {
      await keyv.set(key, value);
    },
    delete: async (key) => {
      await keyv.delete(key);
    },
    update: async (key, change) => {
      for (;;) {
        // Stores answer a missing key with null or undefined.
        const text = (await store.get<string>(prefix + key)) ?? undefined;
        // A store answers with the text that Keyv gave it; its type has room for what other stores do.
        const before = await read(text as string | undefined);
        const after = change(before);
        if (after === before) return before;
        const written = await keyv.serializeData({ value: after, expires: undefined });
        if (typeof written !== 'string')
          throw new TypeError('Keyv wrote a setting as something else than text');
        if (await compareAndSet(prefix + key, text as string | undefined, written)) return after;
      }
    },
    entries: async () =>
      Promise.all(
        (await list())
          .filter(([key]) => key.startsWith(prefix))
          .map(async ([key, text]) => [key.slice(prefix.length), await read(text)] as const),
      ),
  };
}
