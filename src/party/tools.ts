/** What people say of what is played, and who may say it. */
import { UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf } from '../core/invocation.ts';
import {
  MOST_QUEUED,
  type Party,
  type PartyEvent,
  type PartySong,
  type PartyTools,
  partyAfter,
  secondsAt,
  votesNeeded,
} from '../core/party.ts';
import { type VoiceChannel, type VoiceEnd, VoiceError } from '../platforms/platform.ts';
import { lineAt } from './details.ts';
import type { PartyHost } from './host.ts';
import type { PartiesOptions } from './options.ts';

interface Asking {
  readonly address: Address;
  readonly person: Person;
}

interface ToolParts extends PartiesOptions {
  /** Tells the process that plays that something is stored. */
  readonly announce: (guild: string) => Promise<void>;
  /** Ends a party that no one has played for long. */
  readonly lapse: (guild: string) => Promise<void>;
  /** Begins to play, if no one does and the server is this process's. Rejects with VoiceError. */
  readonly openOnce: (guild: string, how: { readonly isAwaited: boolean }) => Promise<void>;
  /** What is played here, by server. */
  readonly hosted: ReadonlyMap<string, Pick<PartyHost, 'seconds'>>;
}

const NOTHING = 'Nothing is playing here. /party play begins.';

const NOT_LET_IN =
  'I am no member of this server, or may not see its voice channels. A moderator can add me to it; then I can play here.';

const UNTOLD =
  'Right now Discord does not tell me which voice channel you are in. Please try again in a minute.';

const JOIN_FAILED = {
  removed: 'I was disconnected before I could begin. Please try again.',
  refused: 'Discord refuses the voice connection. Whoever runs this bot finds the reason in its log.',
  unreachable: 'Discord’s voice server does not answer. Please try again in a minute.',
  lost: 'My connection to Discord is broken for the moment. Please try again in a minute.',
} as const satisfies Record<VoiceEnd, string>;

/** What a person may do at an address: it is stored, and the process that plays reads it. */
export function partyToolsFor({ address, person }: Asking, parts: ToolParts): PartyTools {
  const { store, voice, platform, now, newId, random, announce, openOnce, lapse, hosted } = parts;
  const guild = serverOf(address);

  /** Where the person is. Throws UserError. */
  async function theirChannel(where: string): Promise<VoiceChannel | 'gone' | undefined> {
    const theirs = await voice.channelOf(where, person.id);
    if (theirs === 'untold') throw new UserError(UNTOLD);
    return theirs;
  }

  async function isIn(where: string, channel: string): Promise<boolean> {
    const theirs = await theirChannel(where);
    return theirs !== 'gone' && theirs?.id === channel;
  }

  /** The party, where the person hears it or moderates. Throws UserError. */
  async function hearing(): Promise<{ readonly guild: string; readonly party: Party }> {
    const party = guild === undefined ? undefined : await store.read(guild);
    if (guild === undefined || !party) throw new UserError(NOTHING);
    if (!person.moderator && !(await isIn(guild, party.channel)))
      throw new UserError('Join the voice channel that I play in, then you can say what is played.');
    return { guild, party };
  }

  /** Another process may play it, and know. */
  async function listenersOf({ guild: where, channel, listeners }: Party): Promise<readonly string[]> {
    return (await voice.listeners(where, channel)) ?? listeners ?? [person.id];
  }

  async function apply(where: string, event: PartyEvent): Promise<Party> {
    const party = await store.update(where, (known) => known && partyAfter(known, event, now()));
    if (!party) throw new UserError(NOTHING);
    await announce(where);
    return party;
  }

  return {
    async play(song) {
      const channel = guild === undefined ? undefined : await theirChannel(guild);
      if (channel === 'gone') throw new UserError(NOT_LET_IN);
      if (guild === undefined || !channel)
        throw new UserError('Join a voice channel first: I come to the one that you are in.');
      if (channel.missing.length > 0)
        throw new UserError(
          `In ${channel.name} I lack ${channel.missing.join(' and ')}. A moderator can give my role that right: in the channel’s settings, under Permissions.`,
        );
      if (channel.isFull)
        throw new UserError(
          `${channel.name} is full. When somebody leaves, or a moderator raises its limit, I can join.`,
        );
      const queued: PartySong = {
        ...song,
        id: newId(),
        by: { id: person.id, displayName: person.displayName },
      };
      await lapse(guild);
      const stored = await store.update(guild, (known) => {
        if (known && known.channel !== channel.id) return known;
        const party =
          known ??
          newParty(
            { id: newId(), guild, channel: channel.id, address: platform.sameChannel?.(address) ?? address },
            now(),
          );
        return partyAfter(party, { type: 'queued', song: queued }, now());
      });
      if (stored?.channel !== channel.id)
        throw new UserError(
          'I play in another voice channel of this server. Join it, or ask there for /party stop.',
        );
      const isNow = stored.current?.id === queued.id;
      const position = stored.queue.findIndex(({ id }) => id === queued.id) + 1;
      if (!isNow && position === 0)
        throw new UserError(
          `${MOST_QUEUED} songs are queued already. Please wait until some have been played.`,
        );
      try {
        if (!hosted.has(guild)) await openOnce(guild, { isAwaited: true });
        await announce(guild);
      } catch (error) {
        if (!(error instanceof VoiceError)) throw error;
        throw new UserError(JOIN_FAILED[error.reason]);
      }
      return isNow
        ? `I play ${song.title} in ${channel.name}.`
        : `${song.title} is queued, number ${position}.`;
    },

    async skip() {
      const { guild: where, party } = await hearing();
      if (!party.current) throw new UserError(NOTHING);
      const { title, by } = party.current;
      if (person.moderator || by?.id === person.id) {
        await apply(where, { type: 'skipped', round: party.round });
        return `Skipped ${title}.`;
      }
      const listeners = await listenersOf(party);
      const after = await apply(where, { type: 'voted', person: person.id, listeners });
      if (after.round !== party.round) return `Skipped ${title}: most of those who listen want to go on.`;
      return `You vote for the next song: ${after.votes.length} of ${votesNeeded(listeners.length)} votes that it takes.`;
    },

    async remove(position) {
      const { guild: where, party } = await hearing();
      const song = party.queue[position - 1];
      if (!song)
        throw new UserError(
          `There is no song at number ${position}; ${party.queue.length} are queued.`,
          'position',
        );
      if (!person.moderator && song.by?.id !== person.id)
        throw new UserError('Only the person who queued it, or a moderator, can take it out.');
      await apply(where, { type: 'removed', song: song.id });
      return `${song.title} is not played.`;
    },

    async shuffle() {
      const { guild: where, party } = await hearing();
      await apply(where, { type: 'shuffled', random: party.queue.map(() => random()) });
      return 'The queue is shuffled.';
    },

    async loop(loop) {
      const { guild: where } = await hearing();
      await apply(where, { type: 'looped', loop });
      return loop === 'off' ? 'Nothing is repeated.' : `The ${loop} is repeated.`;
    },

    async radio(on) {
      const { guild: where } = await hearing();
      await apply(where, { type: 'radio', on });
      return on
        ? 'When the queue is empty, I play this channel’s songs of the last weeks.'
        : 'When the queue is empty, I am silent.';
    },

    async pause() {
      const { guild: where } = await hearing();
      await apply(where, { type: 'paused' });
      return 'Paused.';
    },

    async resume() {
      const { guild: where } = await hearing();
      await apply(where, { type: 'resumed' });
      return 'It goes on.';
    },

    async stop() {
      const { guild: where, party } = await hearing();
      const listeners = await listenersOf(party);
      const isOwn = [party.current, ...party.queue].every((song) => !song?.by || song.by.id === person.id);
      if (!person.moderator && !isOwn && listeners.some((id) => id !== person.id))
        throw new UserError(
          'Others have queued songs and listen. A moderator can stop it; /party skip asks for the next song.',
        );
      await store.update(where, () => undefined);
      await announce(where);
      return 'I stop, and leave.';
    },

    async now() {
      const party = guild === undefined ? undefined : await store.read(guild);
      if (!party || guild === undefined) return undefined;
      const seconds = hosted.get(guild)?.seconds ?? secondsAt(party, now());
      const lines = party.current ? await parts.linesOf(party.current) : [];
      return { party, seconds, line: lineAt(lines, seconds) };
    },
  };
}

function newParty(where: Pick<Party, 'id' | 'guild' | 'channel' | 'address'>, at: number): Party {
  return {
    version: 1,
    ...where,
    queue: [],
    round: 0,
    position: { seconds: 0, at, moves: false },
    paused: false,
    loop: 'off',
    radio: false,
    votes: [],
  };
}
