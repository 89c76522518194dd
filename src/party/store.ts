/** What is stored of parties: their state, which servers have one, and when a process that plays was last alive. */
import { z } from 'zod';
import { type Party, partySchema } from '../core/party.ts';
import type { SettingsStore } from '../storage/storage.ts';

/** A process that has not been heard of for so long is dead, or its clock is wrong by more than replicas' may be. */
const DEAD_AFTER_MS = 10_000;

const guildsSchema = z.array(z.string()).catch([]);
const aliveSchema = z.object({ at: z.number() });

export interface PartyStoreOptions {
  readonly settings: SettingsStore;
  readonly platform: string;
  readonly now: () => number;
  /** No other process uses the storage: who else is named as an owner is dead. */
  readonly alone: boolean;
}

export type PartyStore = ReturnType<typeof createPartyStore>;

/** Every change is a compare-and-set of one record. Methods throw StorageError. */
export function createPartyStore({ settings, platform, now, alone }: PartyStoreOptions) {
  const keyOf = (guild: string) => `party:${platform}:${guild}`;
  const aliveKeyOf = (owner: string) => `party-owner:${owner}`;
  const indexKey = `parties:${platform}`;
  /** What a newer version wrote is none of ours. */
  const read = (value: unknown): Party | undefined => partySchema.safeParse(value).data;

  async function list(guild: string, isThere: boolean): Promise<void> {
    await settings.update(indexKey, (value) => {
      const guilds = guildsSchema.parse(value ?? []);
      if (guilds.includes(guild) === isThere) return value;
      return isThere ? [...guilds, guild] : guilds.filter((known) => known !== guild);
    });
  }

  return {
    guilds: async (): Promise<readonly string[]> => guildsSchema.parse((await settings.get(indexKey)) ?? []),

    read: async (guild: string): Promise<Party | undefined> => read(await settings.get(keyOf(guild))),

    /** Resolves to what is stored now. `change` returns what it was given to write nothing, and undefined to end the party. */
    async update(
      guild: string,
      change: (party: Party | undefined) => Party | undefined,
    ): Promise<Party | undefined> {
      let [was, is] = [false, false];
      const stored = await settings.update(keyOf(guild), (value): unknown => {
        const before = read(value);
        const after = change(before);
        [was, is] = [before !== undefined, after !== undefined];
        return after === before ? value : (after ?? null);
      });
      if (was !== is) await list(guild, is);
      return read(stored);
    },

    /**
     * Takes what a person queued out of what is next, their name from what is played, and them from those who hear it. Of where they
     * began it the channel stays, which the message of the party needs.
     */
    async forget(person: string): Promise<void> {
      for (const guild of guildsSchema.parse((await settings.get(indexKey)) ?? []))
        await settings.update(keyOf(guild), (value): unknown => {
          const party = read(value);
          const isTheirs = (song: { by?: { id: string } | undefined } | undefined) => song?.by?.id === person;
          const people = [...(party?.votes ?? []), ...(party?.listeners ?? []), party?.address.person];
          if (!party || !([party.current, ...party.queue].some(isTheirs) || people.includes(person)))
            return value;
          const { by: _, ...song } = party.current ?? {};
          const queue = party.queue.filter((queued) => !isTheirs(queued));
          const votes = party.votes.filter((voter) => voter !== person);
          const listeners = party.listeners?.filter((listener) => listener !== person);
          // Also without what the platform keeps for the person, such as the token of their interaction.
          const { platformData: _data, ...where } = party.address;
          const address = where.person === person ? { ...where, person: '' } : party.address;
          const current = isTheirs(party.current) ? song : party.current;
          return { ...party, address, queue, votes, listeners, current };
        });
    },

    /** Tells the others that this process lives. */
    beat: (owner: string): Promise<void> => settings.set(aliveKeyOf(owner), { at: now() }),

    retire: (owner: string): Promise<void> => settings.delete(aliveKeyOf(owner)),

    /** When an owner that is dead was last alive; undefined while it lives. `since` is the least that is known of it. */
    async diedAt(owner: string, since: number): Promise<number | undefined> {
      const at = aliveSchema.safeParse(await settings.get(aliveKeyOf(owner))).data?.at ?? since;
      return alone || now() - at > DEAD_AFTER_MS ? at : undefined;
    },
  };
}
