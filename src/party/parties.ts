/** The parties of this process: plays those that no one plays, and shows them. Loaded with the first one. */
import type { Address, Person } from '../core/invocation.ts';
import { type Party, type PartySong, type PartyTools, secondsAt } from '../core/party.ts';
import { VoiceError } from '../platforms/platform.ts';
import { createDetails, lineAt } from './details.ts';
import { type PartyEnding, type PartyHost, startPartyHost } from './host.ts';
import { overMessage, partyMessage } from './message.ts';
import type { PartiesOptions } from './options.ts';
import { createPanel, type Panel } from './panel.ts';
import { partyToolsFor } from './tools.ts';

const BEAT_MS = 1_000;
/** A party that no process has played for so long is over: the people have gone, and expect no bot to come back by itself. */
const LAPSES_AFTER_MS = 3_600_000;

export interface Parties {
  /** What a person may do at an address. */
  toolsFor(address: Address, person: Person): PartyTools;
  /** Plays parties without an owner, and tells running ones that something is stored. Never rejects. */
  sweep(): Promise<void>;
  /** Hands over what runs. */
  stop(): Promise<void>;
}

const ENDINGS = {
  removed: 'A moderator disconnected me, or the channel is gone. /party play begins anew.',
  refused: 'Discord refuses the voice connection. Whoever runs this bot finds the reason in its log.',
  unreachable: 'Discord’s voice server does not answer. /party play tries again.',
  lost: 'My connection to Discord broke. I am coming back.',
  lapsed: 'I was away for over an hour. /party play begins anew.',
  stopped: 'It was stopped. /party play begins anew.',
  deserted: 'Nobody listened, or nothing was queued, for two minutes. /party play begins anew.',
  unplayable: 'Song after song could not be played. /party play tries another.',
  'taken-over': 'Another part of me goes on.',
} as const satisfies Record<PartyEnding | 'lapsed', string>;

export function createParties(options: PartiesOptions): Parties {
  const { store, platform, voice, songsOf, publish, now, newId, random, log, sleep } = options;
  const owner = newId();
  const closing = new AbortController();
  const hosted = new Map<string, PartyHost>();
  const starting = new Map<string, Promise<void>>();
  let beating: Promise<void> | undefined;

  async function beat(): Promise<void> {
    while (hosted.size > 0 && !closing.signal.aborted) {
      await store.beat(owner).catch((error: unknown) => {
        log.warn({ err: error }, 'It could not be stored that parties are played here');
      });
      await sleep(BEAT_MS, closing.signal);
    }
    beating = undefined;
  }

  /** When a party was last played; undefined while another process plays it. */
  async function leftAt({ owner: other, position }: Party): Promise<number | undefined> {
    return other === undefined || other === owner ? position.at : await store.diedAt(other, position.at);
  }

  function panelOf(party: Party): Panel {
    return createPanel(party, {
      platform,
      log,
      remember: async (posted) => {
        await store.update(party.guild, (stored) =>
          stored?.id === party.id ? { ...stored, posted } : stored,
        );
      },
    });
  }

  /** Ends a party that has lapsed. */
  async function lapse(guild: string): Promise<void> {
    const known = await store.read(guild);
    if (!known || hosted.has(guild)) return;
    const at = await leftAt(known);
    if (at === undefined || now() - at < LAPSES_AFTER_MS) return;
    const isSame = (party: Party | undefined) =>
      party?.owner === known.owner && party?.position.at === known.position.at;
    if (await store.update(guild, (party) => (isSame(party) ? undefined : party))) return;
    const panel = panelOf(known);
    await panel.close(overMessage(ENDINGS.lapsed, panel));
  }

  /** Makes this process the owner of a party without one. Resolves to the party if it is its own now. */
  async function claim(guild: string): Promise<Party | undefined> {
    const known = await store.read(guild);
    if (!known || hosted.has(guild)) return undefined;
    const diedAt = await leftAt(known);
    if (diedAt === undefined) return undefined;
    await store.beat(owner);
    const claimed = await store.update(guild, (party) => {
      if (!party || party.owner !== known.owner) return party;
      const seconds = secondsAt(party, diedAt);
      return { ...party, owner, position: { seconds, at: now(), moves: false } };
    });
    return claimed?.owner === owner ? claimed : undefined;
  }

  /** Rejects with VoiceError. */
  async function open(guild: string, isAwaited: boolean): Promise<void> {
    const reach = await voice.reach(guild);
    if (reach === 'elsewhere') return;
    await lapse(guild);
    if (reach === 'outage') throw new VoiceError('lost');
    const party = await claim(guild);
    if (!party) return;
    const panel = panelOf(party);
    if (reach === 'gone') return await over(guild, 'removed', panel, party);
    const details = createDetails(options);
    try {
      const host = await startPartyHost(
        {
          ...options,
          guild,
          owner,
          isAwaited,
          radioSong,
          show: (current, heard) => {
            const { lines, ...shown } = details(current);
            panel.show(partyMessage(current, { ...heard, ...shown, line: lineAt(lines, heard.seconds) }));
          },
          ended: (ending, last) => void over(guild, ending, panel, last),
        },
        party,
      );
      hosted.set(guild, host);
      beating ??= beat();
    } catch (error) {
      const reason = error instanceof VoiceError ? error.reason : 'unreachable';
      // Nothing was heard or shown before: the person who waits for it is told alone.
      await over(guild, reason, isAwaited && !panel.isShown ? undefined : panel, party);
      throw error;
    }
  }

  async function over(
    guild: string,
    ending: PartyEnding,
    panel: Panel | undefined,
    last: Party | undefined,
  ): Promise<void> {
    const host = hosted.get(guild);
    hosted.delete(guild);
    if (ending === 'taken-over') return;
    try {
      await store.update(guild, (party) => {
        if (party?.owner !== owner) return party;
        if (ending !== 'lost') return undefined;
        const { owner: _, ...free } = party;
        const seconds = host?.seconds ?? party.position.seconds;
        return { ...free, position: { seconds, at: now(), moves: false } };
      });
    } catch (error) {
      log.warn({ err: error, guild, ending }, 'The end of a party could not be stored');
    }
    if (ending !== 'lost') await panel?.close(overMessage(ENDINGS[ending], panel));
    log.info({ guild, ending, songs: last?.round }, 'A party ended here');
  }

  async function radioSong({ address, current }: Party): Promise<PartySong | undefined> {
    const songs = (await songsOf(address)).filter(({ job }) => job !== current?.job);
    const song = songs[Math.floor(random() * songs.length)];
    return song && { ...song, id: newId() };
  }

  /** One opening of a server's party at a time. */
  function openOnce(guild: string, { isAwaited }: { readonly isAwaited: boolean }): Promise<void> {
    const known = starting.get(guild);
    if (known) return known;
    const opening = open(guild, isAwaited).finally(() => starting.delete(guild));
    starting.set(guild, opening);
    return opening;
  }

  /** Tells the process that plays it that something is stored. */
  async function announce(guild: string): Promise<void> {
    hosted.get(guild)?.wake();
    if (!hosted.has(guild))
      await publish().catch((error: unknown) =>
        log.info({ err: error }, 'A party hears of it with its next look'),
      );
  }

  return {
    toolsFor: (address, person) =>
      partyToolsFor({ address, person }, { ...options, announce, openOnce, lapse, hosted }),

    async sweep() {
      try {
        for (const guild of await store.guilds()) {
          if (closing.signal.aborted) return;
          if (hosted.has(guild)) hosted.get(guild)?.wake();
          else await openOnce(guild, { isAwaited: false }).catch(() => undefined);
        }
      } catch (error) {
        log.warn({ err: error }, 'Parties could not be looked for');
      }
    },

    async stop() {
      closing.abort();
      await Promise.all([...hosted.values()].map((host) => host.hand().catch(() => undefined)));
      hosted.clear();
      await beating;
      await store.retire(owner).catch(() => undefined);
    },
  };
}
