/** The events of a party and their effects. Pure. */
import type { Party, PartyLoop, PartySong } from '../core/music/party.ts';

/** More songs than fit into an evening. */
export const MOST_QUEUED = 100;

export type PartyEvent =
  | { readonly type: 'queued'; readonly song: PartySong }
  /** The song of this round played to its end. */
  | { readonly type: 'ended'; readonly round: number }
  /** The song of this round is skipped, even if it would be repeated. */
  | { readonly type: 'skipped'; readonly round: number }
  /** The song of this round cannot be played, so it is not repeated. */
  | { readonly type: 'failed'; readonly round: number }
  | { readonly type: 'voted'; readonly person: string; readonly listeners: readonly string[] }
  | { readonly type: 'removed'; readonly song: string }
  /** `random`: a number from 0 to below 1 for each queued song. */
  | { readonly type: 'shuffled'; readonly random: readonly number[] }
  | { readonly type: 'looped'; readonly loop: PartyLoop }
  | { readonly type: 'radio'; readonly on: boolean }
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  | { readonly type: 'moved'; readonly channel: string }
  /** The position in the song of this round, and whether it is playing. */
  | { readonly type: 'measured'; readonly round: number; readonly seconds: number; readonly moves: boolean }
  | { readonly type: 'posted'; readonly posted: Party['posted'] }
  /** Removes a person's queued songs, name and vote. */
  | { readonly type: 'forgotten'; readonly person: string };

/** Applies an event. Returns the same object if nothing changes. */
export function partyAfter(party: Party, event: PartyEvent, now: number): Party {
  switch (event.type) {
    case 'queued': {
      if (party.queue.length >= MOST_QUEUED) return party;
      const queue = [...party.queue, event.song];
      return party.current ? { ...party, queue } : playNext({ ...party, queue }, now);
    }
    case 'ended':
      if (event.round !== party.round || !party.current) return party;
      if (party.loop === 'song') return startSong(party, party.current, now);
      return playNext(withCurrentAgain(party), now);
    case 'skipped':
      if (event.round !== party.round || !party.current) return party;
      return playNext(withCurrentAgain(party), now);
    case 'failed':
      return event.round === party.round && party.current ? playNext(party, now) : party;
    case 'voted': {
      const { person, listeners } = event;
      if (!party.current || !listeners.includes(person)) return party;
      const votes = [...new Set([...party.votes, person])].filter((voter) => listeners.includes(voter));
      if (votes.length >= votesNeeded(listeners.length)) return playNext(withCurrentAgain(party), now);
      return { ...party, votes };
    }
    case 'removed': {
      const queue = party.queue.filter(({ id }) => id !== event.song);
      return queue.length === party.queue.length ? party : { ...party, queue };
    }
    case 'shuffled': {
      const order = party.queue.map((song, n) => ({ song, key: event.random[n] ?? 0 }));
      return { ...party, queue: order.toSorted((one, other) => one.key - other.key).map(({ song }) => song) };
    }
    case 'looped':
      return party.loop === event.loop ? party : { ...party, loop: event.loop };
    case 'radio':
      return party.radio === event.on ? party : { ...party, radio: event.on };
    case 'paused':
      if (party.paused) return party;
      return { ...party, paused: true, position: { seconds: secondsAt(party, now), at: now, moves: false } };
    case 'resumed':
      return party.paused ? { ...party, paused: false } : party;
    case 'moved':
      return party.channel === event.channel ? party : { ...party, channel: event.channel };
    case 'measured': {
      const { round, seconds, moves } = event;
      return round === party.round ? { ...party, position: { seconds, at: now, moves } } : party;
    }
    case 'posted':
      return { ...party, posted: event.posted };
    case 'forgotten':
      return removePerson(party, event.person);
    default:
      return event satisfies never;
  }
}

/** More than half of the listeners. */
export function votesNeeded(listeners: number): number {
  return Math.floor(listeners / 2) + 1;
}

/** Returns the position in the song at a time, assuming that it kept playing or stayed paused. */
export function secondsAt({ position, current }: Pick<Party, 'position' | 'current'>, at: number): number {
  const { seconds, at: since, moves } = position;
  const passed = moves ? Math.max(0, at - since) / 1000 : 0;
  return Math.min(seconds + passed, current?.seconds ?? Infinity);
}

/** Removes a person. The address keeps its channel, which the message of the party needs. */
function removePerson(party: Party, person: string): Party {
  const isByPerson = ({ by }: PartySong) => by?.id === person;
  const withoutRequester = ({ by: _, ...song }: PartySong): PartySong => song;
  // Platform data may identify the person, such as the token of their interaction.
  const { platformData: _data, ...where } = party.address;
  return {
    ...party,
    address: where.person === person ? { ...where, person: '' } : party.address,
    queue: party.queue.filter((queued) => !isByPerson(queued)),
    votes: party.votes.filter((voter) => voter !== person),
    ...(party.current && isByPerson(party.current) && { current: withoutRequester(party.current) }),
  };
}

/** Appends the finished song to a repeated queue. */
function withCurrentAgain(party: Party): Party {
  if (party.loop !== 'queue' || !party.current || party.queue.length >= MOST_QUEUED) return party;
  return { ...party, queue: [...party.queue, party.current] };
}

function playNext(party: Party, now: number): Party {
  const [first, ...queue] = party.queue;
  return startSong({ ...party, queue }, first, now);
}

function startSong(party: Party, song: PartySong | undefined, now: number): Party {
  const { current: _, ...rest } = party;
  return {
    ...rest,
    ...(song && { current: song }),
    round: party.round + 1,
    position: { seconds: 0, at: now, moves: false },
    paused: false,
    votes: [],
  };
}
