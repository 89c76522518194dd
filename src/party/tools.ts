/** What people say of what is played, and who may say it. */
import { UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf } from '../core/invocation.ts';
import type { Party, PartySong, PartyTools } from '../core/party.ts';
import { type VoiceChannel, type VoiceEnd, VoiceError } from '../platforms/voice.ts';
import { lineAt } from './details.ts';
import { MOST_QUEUED, partyAfter, votesNeeded } from './events.ts';
import type { PartiesOptions, PartyHost } from './host.ts';

interface Asking {
  readonly address: Address;
  readonly person: Person;
}

interface ToolParts extends PartiesOptions {
  /** What is played here, by server. */
  readonly hosted: ReadonlyMap<string, PartyHost>;
  readonly starting: ReadonlyMap<string, Promise<PartyHost | undefined>>;
  /** Plays what `prepare` resolves to. Rejects with VoiceError. */
  readonly start: (
    guild: string,
    prepare: () => Promise<Party>,
    how: { readonly isAwaited: boolean },
  ) => Promise<unknown>;
  /** What the server has stored and no process plays. */
  readonly left: (guild: string) => Promise<Party | undefined>;
  readonly end: (party: Party, ending: VoiceEnd) => Promise<void>;
}

const NOTHING = 'Nothing is playing here. Start with /party play.';

const ELSEWHERE = 'I play in another voice channel of this server. Join it, or ask there for /party stop.';

const NOT_LET_IN =
  'I am not a member of this server, or cannot see its voice channels. A moderator can add me; then I can play here.';

const UNTOLD =
  'Right now Discord does not tell me which voice channel you are in. Please try again in a minute.';

const JOIN_FAILED = {
  removed: 'I was disconnected before I could begin. Please try again.',
  refused: 'Discord refuses the voice connection. The operator of this bot can find the reason in its log.',
  unreachable: 'Discord’s voice server does not answer. Please try again in a minute.',
  lost: 'My connection to Discord is broken for the moment. Please try again in a minute.',
} as const satisfies Record<VoiceEnd, string>;

/** What a person may do at an address. */
export function partyToolsFor({ address, person }: Asking, parts: ToolParts): PartyTools {
  const { voice, platform, now, newId, random, hosted, starting, start, left, end } = parts;
  const guild = serverOf(address);

  /** Where the person is. Throws UserError. */
  async function theirChannel(where: string): Promise<VoiceChannel | 'gone' | undefined> {
    const theirs = await (await voice()).channelOf(where, person.id);
    if (theirs === 'untold') throw new UserError(UNTOLD);
    return theirs;
  }

  async function isIn(where: string, channel: string): Promise<boolean> {
    const theirs = await theirChannel(where);
    return theirs !== 'gone' && theirs?.id === channel;
  }

  /** The party, where the person hears it or moderates. Throws UserError. */
  async function hearing(): Promise<PartyHost> {
    const host = guild === undefined ? undefined : hosted.get(guild);
    if (guild === undefined || !host) throw new UserError(NOTHING);
    if (!person.moderator && !(await isIn(guild, host.party.channel)))
      throw new UserError('Join the voice channel that I play in to control the music.');
    return host;
  }

  const listenersOf = ({ listeners }: PartyHost): readonly string[] => listeners ?? [person.id];

  /** What was left, if anything, and with the song. Throws UserError, and VoiceError where nothing can begin. */
  async function withSong(where: string, channel: string, song: PartySong) {
    const reach = await (await voice()).reach(where);
    if (reach !== 'here') throw new VoiceError(reach === 'gone' ? 'removed' : 'lost');
    const stored = await left(where);
    if (stored && stored.channel !== channel) throw new UserError(ELSEWHERE);
    const shown = platform.sameChannel?.(address) ?? address;
    const before = stored ?? newParty({ id: newId(), guild: where, channel, address: shown }, now());
    return { stored, party: partyAfter(before, { type: 'queued', song }, now()) };
  }

  /** Joins the channel and plays. Throws UserError and VoiceError. */
  async function begin(where: string, channel: string, song: PartySong): Promise<Party> {
    const prepared = withSong(where, channel, song);
    try {
      await start(where, async () => (await prepared).party, { isAwaited: true });
    } catch (error) {
      const { stored } = await prepared;
      if (stored && error instanceof VoiceError && error.reason !== 'lost') await end(stored, error.reason);
      throw error;
    }
    return (await prepared).party;
  }

  async function queue(where: string, channel: string, song: PartySong): Promise<Party> {
    // Somebody else may have begun it in this very moment.
    const beginning = starting.get(where);
    const host = hosted.get(where) ?? (beginning && (await beginning));
    if (!host) return await begin(where, channel, song);
    if (host.party.channel !== channel) throw new UserError(ELSEWHERE);
    return await host.apply({ type: 'queued', song });
  }

  return {
    async play(song) {
      const channel = guild === undefined ? undefined : await theirChannel(guild);
      if (channel === 'gone') throw new UserError(NOT_LET_IN);
      if (guild === undefined || !channel)
        throw new UserError('Join a voice channel first: I come to the one that you are in.');
      if (channel.missing.length > 0)
        throw new UserError(
          `I need the ${channel.missing.join(' and ')} ${channel.missing.length === 1 ? 'permission' : 'permissions'} in ${channel.name}. A moderator can allow my role that in the channel’s settings, under Permissions.`,
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
      const party = await queue(guild, channel.id, queued).catch((error: unknown) => {
        throw error instanceof VoiceError ? new UserError(JOIN_FAILED[error.reason]) : error;
      });
      if (party.current?.id === queued.id) return `I play ${song.title} in ${channel.name}.`;
      const position = party.queue.findIndex(({ id }) => id === queued.id) + 1;
      if (position === 0)
        throw new UserError(
          `${MOST_QUEUED} songs are queued already. Please wait until some have been played.`,
        );
      return `${song.title} is queued, number ${position}.`;
    },

    async skip() {
      const host = await hearing();
      const { current, round } = host.party;
      if (!current) throw new UserError(NOTHING);
      const { title, by } = current;
      if (person.moderator || by?.id === person.id) {
        await host.apply({ type: 'skipped', round });
        return `Skipped ${title}.`;
      }
      const listeners = listenersOf(host);
      const after = await host.apply({ type: 'voted', person: person.id, listeners });
      if (after.round !== round) return `Skipped ${title}: most listeners voted for it.`;
      return `You voted to skip: ${after.votes.length} of ${votesNeeded(listeners.length)} votes.`;
    },

    async remove(position) {
      const host = await hearing();
      const { queue } = host.party;
      const song = queue[position - 1];
      if (!song)
        throw new UserError(
          `There is no song at number ${position}; ${queue.length} are queued.`,
          'position',
        );
      if (!person.moderator && song.by?.id !== person.id)
        throw new UserError('Only the person who queued it, or a moderator, can remove it.');
      await host.apply({ type: 'removed', song: song.id });
      return `Removed ${song.title} from the queue.`;
    },

    async shuffle() {
      const host = await hearing();
      await host.apply({ type: 'shuffled', random: host.party.queue.map(() => random()) });
      return 'The queue is shuffled.';
    },

    async loop(loop) {
      await (await hearing()).apply({ type: 'looped', loop });
      return loop === 'off' ? 'Nothing is repeated.' : `The ${loop} is repeated.`;
    },

    async radio(on) {
      await (await hearing()).apply({ type: 'radio', on });
      return on
        ? 'When the queue is empty, I play this channel’s songs of the last weeks.'
        : 'When the queue is empty, I am silent.';
    },

    async pause() {
      await (await hearing()).apply({ type: 'paused' });
      return 'Paused.';
    },

    async resume() {
      await (await hearing()).apply({ type: 'resumed' });
      return 'Resumed.';
    },

    async stop() {
      const host = await hearing();
      const { current, queue } = host.party;
      const isOwn = [current, ...queue].every((song) => !song?.by || song.by.id === person.id);
      if (!person.moderator && !isOwn && listenersOf(host).some((id) => id !== person.id))
        throw new UserError(
          'Others have queued songs and listen. A moderator can stop it; /party skip asks for the next song.',
        );
      await host.stop();
      return 'I stop, and leave.';
    },

    async now() {
      const host = guild === undefined ? undefined : hosted.get(guild);
      if (!host) return undefined;
      const { party, seconds } = host;
      const lines = party.current ? await parts.linesOf(party.current) : [];
      return { party, seconds, line: lineAt(lines, seconds) };
    },
  };
}

function newParty(where: Pick<Party, 'id' | 'guild' | 'channel' | 'address'>, at: number): Party {
  return {
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
