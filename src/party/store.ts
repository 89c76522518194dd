/** The parties that are played, for the process that goes on with them after a restart. */
import { z } from 'zod';
import { type Party, partySchema } from '../core/party.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { partyAfter } from './events.ts';

export interface PartyStoreOptions {
  readonly settings: Pick<SettingsStore, 'get' | 'set' | 'delete' | 'update'>;
  readonly platform: string;
  readonly now: () => number;
}

export type PartyStore = ReturnType<typeof createPartyStore>;

const guildsSchema = z.array(z.string()).catch([]);

/** Only the process that plays a party writes it. Methods throw StorageError. */
export function createPartyStore({ settings, platform, now }: PartyStoreOptions) {
  const keyOf = (guild: string) => `party:${platform}:${guild}`;
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

    async write(party: Party): Promise<void> {
      await settings.set(keyOf(party.guild), party);
      await list(party.guild, true);
    },

    async remove(guild: string): Promise<void> {
      await settings.delete(keyOf(guild));
      await list(guild, false);
    },

    /** Takes a person out of what is stored. */
    async forget(person: string): Promise<void> {
      for (const guild of await listed())
        await settings.update(keyOf(guild), (value) => {
          const party = partySchema.safeParse(value).data;
          return party ? partyAfter(party, { type: 'forgotten', person }, now()) : value;
        });
    },
  };
}
