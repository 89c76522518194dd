/**
 * Stores moderators' settings. A change and its audit entry are one write, and no edit overwrites another.
 */
import { z } from 'zod';
import { type Address, channelOf, serverOf } from '../core/invocation.ts';
import { FAMILIES } from '../core/models/family.ts';
import {
  type Actor,
  actorSchema,
  type Change,
  changeSchema,
  ruleSchema,
  type Where,
} from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import { own } from '../core/util/own.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createRecords, keyOfParts, recordParser, SettingsError } from './records.ts';

/** Audit entries stored for each server and channel. The oldest are dropped first. */
const MOST_CHANGES = 200;
/** Characters of a value stored in the audit log. */
const MOST_TRACED = 300;

/** The settings of the channel and the server of an invocation. */
export interface Decisions {
  readonly channel: StoredSettings;
  readonly server: StoredSettings;
}

/** The audit entry of a change. */
type Trace = Pick<Change, 'what' | 'from' | 'to'>;

/** Returns undefined if nothing changes. */
export type Edit = (
  settings: StoredSettings,
) => { readonly settings: StoredSettings; readonly trace?: Trace } | undefined;

export interface DecisionStore {
  /** Throws SettingsError for settings of a newer version. */
  read(address: Address): Promise<Decisions>;
  /** Resolves to whether anything changed. */
  change(address: Address, where: Where, by: Actor, edit: Edit): Promise<boolean>;
  /** Returns the channels of the server that have their own settings, with their names as plain text. */
  channels(address: Address): Promise<{ readonly name: string; readonly settings: StoredSettings }[]>;
  /** Returns the changes of the server and all its channels, newest first. */
  changes(address: Address, limit: number): Promise<Change[]>;
  /** Removes a person's name from all audit entries of a platform. */
  forget(platform: string, person: string): Promise<void>;
  /** Deletes audit entries older than `before`. */
  prune(before: number): Promise<void>;
}

interface DecisionStoreOptions extends Pick<System, 'now' | 'newId'> {
  readonly store: SettingsStore;
}

const FORGOTTEN: Actor = { id: '', displayName: 'someone whose data was deleted' };

export function createDecisionStore({ store, now, newId }: DecisionStoreOptions): DecisionStore {
  const records = createRecords(store, readSettings);

  async function channelsOf(address: Address): ReturnType<DecisionStore['channels']> {
    const { channels, channelNames } = await records.read(serverKey(address));
    return Promise.all(
      channels.map(async (id) => {
        const name = own(channelNames, id);
        const settings = await records.read(keyIn(address, id));
        return { name: name === undefined ? `channel ${id}` : `#${name}`, settings };
      }),
    );
  }

  return {
    async read(address) {
      const [channel, server] = await Promise.all([
        records.read(channelKey(address)),
        records.read(serverKey(address)),
      ]);
      return { channel, server };
    },

    async change(address, where, { id: person, displayName }, edit) {
      const [id, at, by] = [newId(), now(), { id: person, displayName }];
      if (where === 'channel') {
        const channel = channelOf(address);
        // The server's audit log uses this list to find the changes of its channels.
        const name = address.parent === undefined ? address.channelName : undefined;
        await records.change(serverKey(address), (settings) => {
          const { channels, channelNames } = settings;
          const isKnown = channels.includes(channel);
          if (isKnown && (name === undefined || channelNames[channel] === name)) return settings;
          return {
            ...settings,
            channels: isKnown ? channels : [...channels, channel],
            channelNames: name === undefined ? channelNames : { ...channelNames, [channel]: name },
          };
        });
      }
      let changed = false;
      await records.change(where === 'channel' ? channelKey(address) : serverKey(address), (settings) => {
        // The edit was written but its answer was lost, so it is not repeated.
        if (settings.changes.some((change) => change.id === id)) return settings;
        const edited = edit(settings);
        changed = edited !== undefined;
        if (!edited?.trace) return edited?.settings ?? settings;
        const { what, from, to } = edited.trace;
        const change = { id, at, by, what, from: from.slice(0, MOST_TRACED), to: to.slice(0, MOST_TRACED) };
        return { ...edited.settings, changes: [...edited.settings.changes, change].slice(-MOST_CHANGES) };
      });
      return changed;
    },

    channels: channelsOf,

    async changes(address, limit) {
      const { changes } = await records.read(serverKey(address));
      const channelChanges = (await channelsOf(address)).map(({ name, settings }) =>
        settings.changes.map((change): Change => ({ ...change, where: name })),
      );
      return [...changes.map((change): Change => ({ ...change, where: 'server' })), ...channelChanges.flat()]
        .sort((left, right) => right.at - left.at)
        .slice(0, limit);
    },

    async forget(platform, person) {
      const isByPerson = ({ by }: { readonly by: Actor }) => by.id === person;
      const anonymised = <Item extends { by: Actor }>(item: Item): Item =>
        isByPerson(item) ? { ...item, by: FORGOTTEN } : item;
      await records.changeAll(`${encodeURIComponent(platform)}:`, (settings) => {
        const models = Object.entries(settings.models);
        if (![...settings.changes, ...models.map(([, chosen]) => chosen)].some(isByPerson)) return settings;
        return {
          ...settings,
          models: Object.fromEntries(models.map(([family, chosen]) => [family, anonymised(chosen)])),
          changes: settings.changes.map(anonymised),
        };
      });
    },

    async prune(before) {
      try {
        await records.changeAll('', (settings) =>
          settings.changes.some(({ at }) => at < before)
            ? { ...settings, changes: settings.changes.filter(({ at }) => at >= before) }
            : settings,
        );
      } catch (error) {
        // Keys of voices and parties are included, and they have other schemas.
        if (!(error instanceof SettingsError)) throw error;
      }
    },
  };
}

/** A direct conversation counts as a server. */
function serverKey(address: Address): string {
  const server = serverOf(address) ?? `direct ${channelOf(address)}`;
  return keyOfParts(address.platform, server);
}

const channelKey = (address: Address): string => keyIn(address, channelOf(address));

/** Returns the key of a channel in the server of an address. */
function keyIn(address: Address, channel: string): string {
  return `${serverKey(address)}:${encodeURIComponent(channel)}`;
}

/** For each server and channel. */
export const MOST_RULES = 200;

const chosenModel = z.object({
  id: z.string(),
  by: actorSchema,
  at: z.number(),
  /** When moderators were notified that the model is no longer available. */
  notifiedAt: z.number().optional(),
});

/** Settings with another version were written by a newer Minstrel, and are not overwritten. */
const VERSION = 1;

const settingsSchema = z.object({
  version: z.literal(VERSION),
  models: z.partialRecord(z.enum(FAMILIES), chosenModel).default({}),
  systemPrompt: z.string().optional(),
  assistant: z.boolean().optional(),
  footer: z.boolean().optional(),
  /** Whether songs have pages, which anyone with the link can open. */
  pages: z.boolean().optional(),
  /** Channels only: the key in the album link; undefined without a link. */
  album: z.string().optional(),
  /** Channels only: every message is a question. */
  talk: z.boolean().optional(),
  /** Servers only: new requests are refused. */
  paused: z.boolean().optional(),
  /** Access rules and limits, oldest first. */
  rules: z.array(ruleSchema).readonly().default([]),
  /** Servers only: the channels that have their own settings. */
  channels: z.array(z.string()).default([]),
  /** The known names of these channels. */
  channelNames: z.record(z.string(), z.string()).default({}),
  /** Newest last. */
  changes: z.array(changeSchema).default([]),
});

/** The settings of a server or of a channel. */
export type StoredSettings = z.infer<typeof settingsSchema>;

/** Parses settings. Returns empty ones if nothing is stored. Throws SettingsError. */
export const readSettings = recordParser<StoredSettings>(
  settingsSchema,
  settingsSchema.parse({ version: VERSION }),
);
