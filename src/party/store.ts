/** Stores running parties, so that the next process can resume them after a restart. */
import { z } from 'zod';
import { type Party, partySchema } from '../core/music/party.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { partyAfter } from './events.ts';

export interface PartyStoreOptions {
  readonly settings: Pick<SettingsStore, 'get' | 'set' | 'delete' | 'update'>;
  readonly platform: string;
  readonly now: () => number;
}

export type PartyStore = ReturnType<typeof createPartyStore>;

/** Returns the ids of the people in a party. */
const peopleIn = ({ address, current, queue, votes }: Party): Set<string> =>
  new Set([address.person, ...[current, ...queue].flatMap((song) => song?.by?.id ?? []), ...votes]);

const guildsSchema = z.array(z.string()).catch([]);

/** Only the process that plays a party may write it. Methods throw StorageError. */
export function createPartyStore({ settings, platform, now }: PartyStoreOptions) {
  const keyOf = (guild: string) => `party:${platform}:${guild}`;
  /** Parties as last written by this process. People missing from storage since then were forgotten by another process. */
  const written = new Map<string, Party>();
  const without = (party: Party, person: string): Party =>
    partyAfter(party, { type: 'forgotten', person }, now());
  const indexKey = `parties:${platform}`;
  const readGuilds = async () => guildsSchema.parse((await settings.get(indexKey)) ?? []);
  const read = async (guild: string): Promise<Party | undefined> =>
    partySchema.safeParse(await settings.get(keyOf(guild))).data;

  /** Updates the list by compare-and-set, because parties of several servers may start and end at once. */
  async function list(guild: string, isPlayed: boolean): Promise<void> {
    await settings.update(indexKey, (value) => {
      const guilds = guildsSchema.parse(value ?? []);
      if (guilds.includes(guild) === isPlayed) return value;
      return isPlayed ? [...guilds, guild] : guilds.filter((known) => known !== guild);
    });
  }

  return {
    /** Returns the servers that have a party. */
    guilds: readGuilds,
    read,

    /** Writes a party without the people whom another process has forgotten since the last write. Resolves to these people. */
    async write(party: Party): Promise<readonly string[]> {
      const { guild } = party;
      const before = written.get(guild);
      let forgotten: readonly string[] = [];
      await settings.update(keyOf(guild), (value) => {
        const stored = partySchema.safeParse(value).data;
        const known = stored && stored.id === before?.id ? peopleIn(stored) : undefined;
        forgotten = before && known ? [...peopleIn(before)].filter((person) => !known.has(person)) : [];
        return forgotten.reduce(without, party);
      });
      written.set(guild, forgotten.reduce(without, party));
      await list(guild, true);
      return forgotten;
    },

    async remove(guild: string): Promise<void> {
      written.delete(guild);
      await settings.delete(keyOf(guild));
      await list(guild, false);
    },

    /** Removes a person from stored parties. */
    async forget(person: string): Promise<void> {
      for (const guild of await readGuilds())
        await settings.update(keyOf(guild), (value) => {
          const party = partySchema.safeParse(value).data;
          return party ? without(party, person) : value;
        });
    },
  };
}
