/** Plays a song in a person's voice channel, and starts a party there if needed. */
import { UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf } from '../core/invocation.ts';
import type { Party, PartySong, PartyTools } from '../core/music/party.ts';
import { type VoiceChannel, type VoiceEnd, VoiceError } from '../platforms/voice.ts';
import { MOST_QUEUED, partyAfter } from './events.ts';
import type { PartiesOptions, PartyHost } from './host.ts';

export interface PartyRequester {
  readonly address: Address;
  readonly person: Person;
}

export interface ToolParts extends PartiesOptions {
  /** Parties of this process, by server. */
  readonly hosted: ReadonlyMap<string, PartyHost>;
  readonly starting: ReadonlyMap<string, Promise<void>>;
  /** Plays the party returned by `prepare`. Rejects with VoiceError. */
  readonly start: (
    guild: string,
    prepare: () => Promise<Party>,
    how: { readonly isAwaited: boolean },
  ) => Promise<void>;
  /** Returns the server's stored party that no process is playing. */
  readonly storedParty: (guild: string) => Promise<Party | undefined>;
  readonly end: (party: Party, ending: VoiceEnd) => Promise<void>;
}

const ELSEWHERE = "I'm playing in another voice channel of this server. Join it, or use /party stop there.";

const NOT_A_MEMBER =
  "I'm not a member of this server, or I can't see its voice channels. Ask a moderator to add me.";

const CHANNEL_UNKNOWN = "I can't see which voice channel you are in right now. Try again in a minute.";

const JOIN_FAILED = {
  removed: 'I was disconnected before I could start. Try again with /party play.',
  refused:
    "Discord refused the voice connection. Try again in a minute. If that doesn't help, tell the bot's operator.",
  unreachable: "Discord's voice server isn't responding. Try again in a minute.",
  lost: 'I lost the connection to Discord. Try again in a minute.',
} as const satisfies Record<VoiceEnd, string>;

/** Returns the person's voice channel. Throws UserError. */
export async function voiceChannelOf(
  guild: string,
  person: Person,
  voice: PartiesOptions['voice'],
): Promise<VoiceChannel | 'gone' | undefined> {
  const channel = await (await voice()).channelOf(guild, person.id);
  if (channel === 'unknown') throw new UserError(CHANNEL_UNKNOWN);
  return channel;
}

/** Queues a song in the person's voice channel, or starts a party there. */
export function createPlay({ address, person }: PartyRequester, parts: ToolParts): PartyTools['play'] {
  const { voice, platform, now, newId, hosted, starting, start, storedParty, end } = parts;
  const guild = serverOf(address);

  /** Returns the stored party, if any, and the party with the song added. Throws UserError, or VoiceError if it cannot start. */
  async function withSong(where: string, channel: string, song: PartySong) {
    const reach = await (await voice()).reach(where);
    if (reach !== 'here') throw new VoiceError(reach === 'gone' ? 'removed' : 'lost');
    const stored = await storedParty(where);
    if (stored && stored.channel !== channel) throw new UserError(ELSEWHERE);
    const shown = platform.sameChannel?.(address) ?? address;
    const before = stored ?? newParty({ id: newId(), guild: where, channel, address: shown }, now());
    return { stored, party: partyAfter(before, { type: 'queued', song }, now()) };
  }

  /** Joins the channel and plays. Throws UserError and VoiceError. */
  async function startParty(where: string, channel: string, song: PartySong): Promise<Party> {
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
    // Someone else may be starting a party at this moment.
    while (starting.has(where)) await starting.get(where);
    const host = hosted.get(where);
    if (!host) return await startParty(where, channel, song);
    if (host.party.channel !== channel) throw new UserError(ELSEWHERE);
    return await host.apply({ type: 'queued', song });
  }

  return async (song) => {
    const channel = guild === undefined ? undefined : await voiceChannelOf(guild, person, voice);
    if (channel === 'gone') throw new UserError(NOT_A_MEMBER);
    if (guild === undefined || !channel) throw new UserError("Join a voice channel first. I'll play there.");
    if (channel.missing.length > 0)
      throw new UserError(
        `I need the ${channel.missing.join(' and ')} ${channel.missing.length === 1 ? 'permission' : 'permissions'} in ${channel.name}. A moderator can change this in the channel's settings, under Permissions.`,
      );
    if (channel.isFull)
      throw new UserError(
        `${channel.name} is full. Try again when someone has left, or ask a moderator to raise its limit.`,
      );
    const queued: PartySong = {
      ...song,
      id: newId(),
      by: { id: person.id, displayName: person.displayName },
    };
    const party = await queue(guild, channel.id, queued).catch((error: unknown) => {
      throw error instanceof VoiceError ? new UserError(JOIN_FAILED[error.reason]) : error;
    });
    if (party.current?.id === queued.id) return `Playing ${song.title} in ${channel.name}.`;
    const position = party.queue.findIndex(({ id }) => id === queued.id) + 1;
    if (position === 0)
      throw new UserError(`The queue is full (${MOST_QUEUED} songs). Try again when the next song starts.`);
    return `Queued ${song.title} at position ${position}.`;
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
