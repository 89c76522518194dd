/** The parties of this process. */
import type { Address, Person } from '../core/invocation.ts';
import type { Party, PartyTools } from '../core/music/party.ts';
import { VoiceError } from '../platforms/voice.ts';
import { secondsAt } from './events.ts';
import { ENDINGS, type PartiesOptions, type PartyEnding, type PartyHost, startPartyHost } from './host.ts';
import { overMessage } from './message.ts';
import { createPanel } from './panel.ts';
import { partyToolsFor } from './tools.ts';

/** Milliseconds without a process playing a party after which it ends, because listeners have left by then. */
const LAPSES_AFTER_MS = 3_600_000;

export interface Parties {
  /** Returns the tools of a person at an address. */
  toolsFor(address: Address, person: Person): PartyTools;
  /** Resumes stored parties of servers that this process is connected to. Never rejects. */
  sweep(): Promise<void>;
  /** Removes a person from current and stored parties. Throws StorageError. */
  forget(person: string): Promise<void>;
  /** Leaves all parties to the next process. */
  stop(): Promise<void>;
}

export function createParties(options: PartiesOptions): Parties {
  const { store, platform, voice, now, log } = options;
  const hosted = new Map<string, PartyHost>();
  /** Servers whose channel is being joined. */
  const starting = new Map<string, Promise<void>>();
  let isClosing = false;

  /** Plays the party returned by `prepare`. Rejects with VoiceError, without changing storage. */
  function start(
    guild: string,
    prepare: () => Promise<Party | undefined>,
    { isAwaited }: { readonly isAwaited: boolean },
  ): Promise<void> {
    const begun = (host: PartyHost) => void hosted.set(guild, host);
    const ended = () => void hosted.delete(guild);
    const prepareAndStart = async () => {
      const party = await prepare();
      if (party) await startPartyHost({ ...options, isAwaited, begun, ended }, party);
    };
    const startingHost = prepareAndStart().finally(() => starting.delete(guild));
    starting.set(guild, startingHost);
    return startingHost;
  }

  /** Returns the stored party, unless it has lapsed. */
  async function storedParty(guild: string): Promise<Party | undefined> {
    const party = await store.read(guild);
    if (!party) return undefined;
    if (now() - party.position.at >= LAPSES_AFTER_MS) return void (await end(party, 'lapsed'));
    return { ...party, position: { seconds: secondsAt(party, now()), at: now(), moves: false } };
  }

  /** Ends a party that is not playing. */
  async function end(party: Party, ending: PartyEnding): Promise<void> {
    await store.remove(party.guild);
    if (party.posted === undefined) return;
    const panel = createPanel(party, { platform, log, remember: async () => {} });
    await panel.close(overMessage(ENDINGS[ending], panel));
  }

  /** Resumes a stored party if this process is connected to its server. */
  function resume(guild: string): void {
    let party: Party | undefined;
    const prepare = async () => {
      const reach = await (await voice()).reach(guild);
      if (reach === 'outage' || reach === 'elsewhere') return undefined;
      party = await storedParty(guild);
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
      partyToolsFor({ address, person }, { ...options, hosted, starting, start, storedParty, end }),

    async sweep() {
      try {
        for (const guild of await store.guilds())
          if (!isClosing && !hosted.has(guild) && !starting.has(guild)) resume(guild);
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
      await Promise.all([...hosted.values()].map((host) => host.handOver()));
    },
  };
}
