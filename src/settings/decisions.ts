/** Reads and changes what moderators decided. A change and its trace are one write, and no edit overwrites another. */
import type { Address, Person } from '../command.ts';
import type { Actor, Change, Where } from '../moderation.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { channelKey, channelOf, serverKey } from './keys.ts';
import { type PlaceSettings, readSettings, SettingsError } from './schema.ts';

/** Changes kept for each place; the oldest goes first. */
const MOST_CHANGES = 200;
/** Characters of a value that the trace keeps. */
const MOST_TRACED = 300;

/** What was decided for the two places that an invocation belongs to. */
export interface Decisions {
  readonly channel: PlaceSettings;
  readonly server: PlaceSettings;
}

/** What is told of a change. */
export interface Trace {
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

/** Returns undefined where there is nothing to change. */
export type Edit = (
  settings: PlaceSettings,
) => { readonly settings: PlaceSettings; readonly trace?: Trace } | undefined;

export interface DecisionStore {
  /** Throws SettingsError for what a newer version wrote. */
  read(address: Address): Promise<Decisions>;
  /** Resolves to whether something was changed. */
  change(
    address: Address,
    where: Where,
    by: Pick<Person, 'id' | 'displayName'>,
    edit: Edit,
  ): Promise<boolean>;
  /** Of the server and all of its channels, newest first. */
  changes(address: Address, limit: number): Promise<Change[]>;
  /** Takes a person's name out of every trace, on one platform. */
  forget(platform: string, person: string): Promise<void>;
  /** Lets traces go that are older than that. */
  prune(before: number): Promise<void>;
}

interface DecisionStoreOptions {
  readonly store: SettingsStore;
  readonly now: () => number;
  readonly newId: () => string;
}

export function createDecisionStore({ store, now, newId }: DecisionStoreOptions): DecisionStore {
  const readAt = async (key: string): Promise<PlaceSettings> => readSettings(key, await store.get(key));

  /** Every place of every platform, edited one by one. `edit` returns its argument to write nothing. */
  async function editAll(
    isMeant: (key: string) => boolean,
    edit: (settings: PlaceSettings) => PlaceSettings,
  ) {
    for (const [key] of await store.entries()) {
      if (!isMeant(key)) continue;
      await store.update(key, (stored) => {
        if (!isReadable(key, stored)) return stored;
        const settings = readSettings(key, stored);
        const edited = edit(settings);
        return edited === settings ? stored : edited;
      });
    }
  }

  return {
    async read(address) {
      const [channel, server] = await Promise.all([readAt(channelKey(address)), readAt(serverKey(address))]);
      return { channel, server };
    },

    async change(address, where, by, edit) {
      const id = newId();
      const at = now();
      if (where === 'channel') await rememberChannel(address);
      const key = where === 'channel' ? channelKey(address) : serverKey(address);
      let changed = false;
      await store.update(key, (stored) => {
        const settings = readSettings(key, stored);
        // Written before an answer was lost: the edit is not made twice.
        if (settings.changes.some((change) => change.id === id)) return stored;
        const edited = edit(settings);
        changed = edited !== undefined;
        if (edited === undefined) return stored;
        const { trace } = edited;
        if (!trace) return edited.settings;
        const kept = {
          id,
          at,
          by: { id: by.id, displayName: by.displayName },
          what: trace.what,
          from: trace.from.slice(0, MOST_TRACED),
          to: trace.to.slice(0, MOST_TRACED),
        };
        return { ...edited.settings, changes: [...edited.settings.changes, kept].slice(-MOST_CHANGES) };
      });
      return changed;
    },

    async changes(address, limit) {
      const server = await readAt(serverKey(address));
      const channels = await Promise.all(
        server.channels.map(async (channel) => {
          const { changes } = await readAt(channelKey({ ...bare(address), channel }));
          return changes.map((change): Change => ({ ...change, place: channel }));
        }),
      );
      return [...server.changes.map((change): Change => ({ ...change, place: 'server' })), ...channels.flat()]
        .sort((left, right) => right.at - left.at)
        .slice(0, limit);
    },

    async forget(platform, person) {
      const nobody: Actor = { id: '', displayName: 'somebody who asked to be forgotten' };
      const start = `${encodeURIComponent(platform)}:`;
      await editAll(
        (key) => key.startsWith(start),
        (settings) => {
          const models = Object.values(settings.models);
          const isNamed =
            settings.changes.some(({ by }) => by.id === person) || models.some(({ by }) => by.id === person);
          if (!isNamed) return settings;
          return {
            ...settings,
            models: Object.fromEntries(
              Object.entries(settings.models).map(([family, chosen]) => [
                family,
                chosen.by.id === person ? { ...chosen, by: nobody } : chosen,
              ]),
            ),
            changes: settings.changes.map((change) =>
              change.by.id === person ? { ...change, by: nobody } : change,
            ),
          };
        },
      );
    },

    async prune(before) {
      await editAll(
        () => true,
        (settings) =>
          settings.changes.some(({ at }) => at < before)
            ? { ...settings, changes: settings.changes.filter(({ at }) => at >= before) }
            : settings,
      );
    },
  };

  /** So that the server knows where to look for changes. */
  async function rememberChannel(address: Address): Promise<void> {
    const key = serverKey(address);
    const channel = channelOf(address);
    await store.update(key, (stored) => {
      const settings = readSettings(key, stored);
      if (settings.channels.includes(channel)) return stored;
      return { ...settings, channels: [...settings.channels, channel] };
    });
  }
}

/** Other things are kept beside these settings, and a newer version may have written some. */
function isReadable(key: string, stored: unknown): boolean {
  try {
    readSettings(key, stored);
    return true;
  } catch (error) {
    if (error instanceof SettingsError) return false;
    throw error;
  }
}

/** A channel of the same server stands alone: the thread's parent is not its. */
function bare({ platform, guild }: Address): Pick<Address, 'platform' | 'guild'> {
  return { platform, ...(guild === undefined ? {} : { guild }) };
}
