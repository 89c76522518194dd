import { Keyv } from 'keyv';
import type { Log } from '../core/telemetry/log.ts';
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
  readonly log: Pick<Log, 'error'>;
  /** Runs an operation of the store, possibly repeatedly. */
  readonly attempt?: <Value>(operation: () => Promise<Value>) => Promise<Value>;
}

/** Settings through Keyv. Errors of the store are thrown, so that a lost write is not taken for a stored one. */
export function keyvSettings({
  store,
  compareAndSet,
  keys,
  namespace,
  log,
  attempt = (operation) => operation(),
}: SettingsTable): SettingsStore {
  const keyv = new Keyv<unknown>({
    store,
    ...(namespace !== undefined && { namespace }),
    useKeyPrefix: false,
    throwOnErrors: true,
    emitErrors: false,
  });
  /** Keys of damaged values, which are logged once. */
  const damaged = new Set<string>();

  /** Returns undefined for a damaged value, as if nothing was stored, so that it can be overwritten. */
  async function parse(key: string, text: string | undefined): Promise<unknown> {
    if (text === undefined) return undefined;
    try {
      const data = await keyv.deserializeData<unknown>(text);
      if (typeof data === 'object' && data !== null && 'value' in data) return data.value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    if (!damaged.has(key))
      log.error({ key }, 'A stored setting is damaged, so it counts as not set. Set it again');
    damaged.add(key);
    return undefined;
  }

  const textOf = (key: string) => attempt(() => store.get(key));
  return {
    get: async (key) => parse(key, await textOf(key)),
    set: async (key, value) => {
      await attempt(() => keyv.set(key, value));
    },
    delete: async (key) => {
      await attempt(() => keyv.delete(key));
    },
    update: async (key, change) => {
      for (;;) {
        const text = await textOf(key);
        const before = await parse(key, text);
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
