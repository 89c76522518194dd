/** The parties of this process. */
import type { Address, Person } from '../core/invocation.ts';
import type { Party, PartyTools } from '../core/music/party.ts';
import { VoiceError } from '../platforms/voice.ts';
import { secondsAt } from './events.ts';
import { ENDINGS, type PartiesOptions, type PartyEnding, type PartyHost, startPartyHost } from './host.ts';
import { overMessage } from './message.ts';
import { createPanel } from './panel.ts';
import { partyToolsFor } from './tools.ts';

/** A party that no process has played for so long is over: the people have gone, and expect no bot to come back by itself. */
const LAPSES_AFTER_MS = 3_600_000;

export interface Parties {
  /** What a person may do at an address. */
  toolsFor(address: Address, person: Person): PartyTools;
  /** Goes on with stored parties of servers that this process is connected to. Never rejects. */
  sweep(): Promise<void>;
  /** Takes a person out of what is played and stored. Throws StorageError. */
  forget(person: string): Promise<void>;
  /** Leaves what is played to the next process. */
  stop(): Promise<void>;
}

export function createParties(options: PartiesOptions): Parties {
  const { store, platform, voice, now, log } = options;
  const hosted = new Map<string, PartyHost>();
  /** Servers whose channel is being joined. */
  const starting = new Map<string, Promise<PartyHost | undefined>>();
  let isClosing = false;

  /** Plays what `prepare` resolves to. Rejects with VoiceError, and then nothing is stored but what was before. */
  function start(
    guild: string,
    prepare: () => Promise<Party | undefined>,
    { isAwaited }: { readonly isAwaited: boolean },
  ): Promise<PartyHost | undefined> {
    const ended = () => void hosted.delete(guild);
    const begin = async () => {
      const party = await prepare();
      if (!party) return undefined;
      const host = await startPartyHost({ ...options, isAwaited, ended }, party);
      hosted.set(guild, host);
      return host;
    };
    const begun = begin().finally(() => starting.delete(guild));
    starting.set(guild, begun);
    return begun;
  }

  /** The stored party, as far as it has not lapsed. */
  async function left(guild: string): Promise<Party | undefined> {
    const party = await store.read(guild);
    if (!party) return undefined;
    if (now() - party.position.at >= LAPSES_AFTER_MS) return void (await end(party, 'lapsed'));
    return { ...party, position: { seconds: secondsAt(party, now()), at: now(), moves: false } };
  }

  /** Ends a party that is not played. */
  async function end(party: Party, ending: PartyEnding): Promise<void> {
    await store.remove(party.guild);
    if (party.posted === undefined) return;
    const panel = createPanel(party, { platform, log, remember: async () => {} });
    await panel.close(overMessage(ENDINGS[ending], panel));
  }

  /** Goes on with a stored party, if this process is connected to its server. */
  function goOn(guild: string): void {
    let party: Party | undefined;
    const prepare = async () => {
      const reach = await (await voice()).reach(guild);
      if (reach === 'outage' || reach === 'elsewhere') return undefined;
      party = await left(guild);
      if (reach === 'here') return party;
      if (party) await end(party, 'removed');
      return undefined;
    };
    start(guild, prepare, { isAwaited: false }).catch(async (error: unknown) => {
      log.warn({ err: error, guild }, 'Could not resume a party');
      if (party && error instanceof VoiceError && error.reason !== 'lost') await end(party, error.reason);
    });
  }

  return {
    toolsFor: (address, person) =>
      partyToolsFor({ address, person }, { ...options, hosted, starting, start, left, end }),

    async sweep() {
      try {
        for (const guild of await store.guilds())
          if (!isClosing && !hosted.has(guild) && !starting.has(guild)) goOn(guild);
      } catch (error) {
        log.warn({ err: error }, 'Could not list the stored parties');
      }
    },

    async forget(person) {
      await Promise.all([...hosted.values()].map((host) => host.apply({ type: 'forgotten', person })));
      await store.forget(person);
    },

    async stop() {
      isClosing = true;
      await Promise.all([...hosted.values()].map((host) => host.hand()));
    },
  };
}
