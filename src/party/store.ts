/** The parties that are played, for the process that goes on with them after a restart. */
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

/** Whom a party names. */
const peopleIn = ({ address, current, queue, votes }: Party): Set<string> =>
  new Set([address.person, ...[current, ...queue].flatMap((song) => song?.by?.id ?? []), ...votes]);

const guildsSchema = z.array(z.string()).catch([]);

/** Only the process that plays a party writes it. Methods throw StorageError. */
export function createPartyStore({ settings, platform, now }: PartyStoreOptions) {
  const keyOf = (guild: string) => `party:${platform}:${guild}`;
  /** As this process wrote them: whoever is missing from storage since was forgotten by another process. */
  const written = new Map<string, Party>();
  const without = (party: Party, person: string): Party =>
    partyAfter(party, { type: 'forgotten', person }, now());
  const indexKey = `parties:${platform}`;
  const listed = async () => guildsSchema.parse((await settings.get(indexKey)) ?? []);
  const read = async (guild: string): Promise<Party | undefined> =>
    partySchema.safeParse(await settings.get(keyOf(guild))).data;

  /** Parties of several servers begin and end at the same time. */
  async function list(guild: string, isPlayed: boolean): Promise<void> {
    await settings.update(indexKey, (value) => {
      const guilds = guildsSchema.parse(value ?? []);
      if (guilds.includes(guild) === isPlayed) return value;
      return isPlayed ? [...guilds, guild] : guilds.filter((known) => known !== guild);
    });
  }

  return {
    /** The servers that have a party. */
    guilds: listed,
    read,

    /** Resolves to the people whom another process has forgotten since the last time. They are not written. */
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

    /** Takes a person out of what is stored. */
    async forget(person: string): Promise<void> {
      for (const guild of await listed())
        await settings.update(keyOf(guild), (value) => {
          const party = partySchema.safeParse(value).data;
          return party ? without(party, person) : value;
        });
    },
  };
}
