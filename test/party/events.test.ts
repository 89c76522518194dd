import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Party, type PartySong, partySchema } from '../../src/core/music/party.ts';
import { MOST_QUEUED, type PartyEvent, partyAfter, secondsAt, votesNeeded } from '../../src/party/events.ts';

const song = (id: string): PartySong => ({
  id,
  job: `job-${id}`,
  index: 0,
  title: id,
  seconds: 100,
  by: { id: 'ada', displayName: 'Ada' },
});

const EMPTY: Party = {
  id: 'p',
  guild: 'g',
  channel: 'c',
  address: { platform: 'discord', guild: 'g', channel: 't', person: 'ada' },
  queue: [],
  round: 0,
  position: { seconds: 0, at: 0, moves: false },
  paused: false,
  loop: 'off',
  radio: false,
  votes: [],
};

const after = (party: Party, ...events: PartyEvent[]): Party =>
  events.reduce((state, event) => partyAfter(state, event, 1_000), party);
const queued = (...ids: string[]): Party =>
  after(EMPTY, ...ids.map((id) => ({ type: 'queued', song: song(id) }) as const));
const played = ({ current, queue }: Party): string =>
  [current, ...queue].map((each) => each?.id ?? '-').join(' ');

it('plays the queue in order and is silent afterwards', () => {
  const party = queued('a', 'b');
  expect(played(party)).toBe('a b');
  const second = after(party, { type: 'ended', round: party.round });
  expect(played(second)).toBe('b');
  expect(played(after(second, { type: 'ended', round: second.round }))).toBe('-');
});

it.each(['ended', 'skipped', 'failed'] as const)('a repeated or late event %s changes nothing', (type) => {
  const party = queued('a', 'b', 'c');
  const once = after(party, { type, round: party.round });
  expect(after(once, { type, round: party.round })).toBe(once);
});

it('repeats the song until a skip, and the queue, but not unplayable songs', () => {
  const looped = after(queued('a', 'b'), { type: 'looped', loop: 'song' });
  const again = after(looped, { type: 'ended', round: looped.round });
  expect(played(again)).toBe('a b');
  expect(again.round).toBe(looped.round + 1);
  expect(played(after(again, { type: 'skipped', round: again.round }))).toBe('b');
  expect(played(after(again, { type: 'failed', round: again.round }))).toBe('b');
  const round = after(queued('a', 'b'), { type: 'looped', loop: 'queue' });
  expect(played(after(round, { type: 'ended', round: round.round }))).toBe('b a');
  expect(played(after(round, { type: 'failed', round: round.round }))).toBe('b');
});

it('skips when more than half of the listeners vote, counting each once and ignoring people who left', () => {
  const party = queued('a', 'b');
  const vote = (person: string, listeners: readonly string[]): PartyEvent => ({
    type: 'voted',
    person,
    listeners,
  });
  const all = ['ada', 'bo', 'cy', 'di'];
  expect(votesNeeded(4)).toBe(3);
  const one = after(party, vote('bo', all), vote('bo', all), vote('stranger', all));
  expect(one.votes).toEqual(['bo']);
  expect(played(after(one, vote('cy', all)))).toBe('a b');
  expect(played(after(one, vote('cy', all), vote('di', all)))).toBe('b');
  // Bo has left: two of three votes are needed, and Cy's is the first.
  expect(after(one, vote('cy', ['ada', 'cy', 'di'])).votes).toEqual(['cy']);
  expect(played(after(one, vote('cy', ['bo', 'cy', 'di'])))).toBe('b');
});

it('knows the position during a pause, after it, and after a crash', () => {
  const begun = after(queued('a'), { type: 'measured', round: 1, seconds: 10, moves: true });
  expect(secondsAt(begun, 6_000)).toBe(15);
  expect(secondsAt(begun, 500_000)).toBe(100);
  const paused = partyAfter(begun, { type: 'paused' }, 3_000);
  expect(secondsAt(paused, 90_000)).toBe(12);
  expect(partyAfter(paused, { type: 'resumed' }, 9_000).paused).toBe(false);
  expect(after(paused, { type: 'measured', round: 0, seconds: 1, moves: true })).toBe(paused);
});

it('removes songs, shuffles the rest, and limits the queue to a hundred', () => {
  const party = queued('a', 'b', 'c', 'd');
  expect(played(after(party, { type: 'removed', song: 'c' }))).toBe('a b d');
  expect(after(party, { type: 'removed', song: 'a' })).toBe(party);
  expect(played(after(party, { type: 'shuffled', random: [0.9, 0.1, 0.5] }))).toBe('a c d b');
  const full = queued(...Array.from({ length: MOST_QUEUED + 1 }, (_, n) => String(n)));
  expect(after(full, { type: 'queued', song: song('more') })).toBe(full);
});

const event: fc.Arbitrary<PartyEvent> = fc.oneof(
  fc.nat(5).map((n) => ({ type: 'queued', song: song(String(n)) }) as const),
  fc.record({ type: fc.constantFrom('ended', 'skipped', 'failed'), round: fc.nat(30) }),
  fc.record({
    type: fc.constant('voted'),
    person: fc.constantFrom('ada', 'bo'),
    listeners: fc.subarray(['ada', 'bo', 'cy']),
  }),
  fc.record({ type: fc.constant('looped'), loop: fc.constantFrom('off', 'song', 'queue') }),
  fc.record({ type: fc.constant('shuffled'), random: fc.array(fc.double({ min: 0, max: 1, noNaN: true })) }),
  fc.constantFrom({ type: 'paused' } as const, { type: 'resumed' } as const),
  fc.record({ type: fc.constant('measured'), round: fc.nat(30), seconds: fc.nat(200), moves: fc.boolean() }),
);

it('after any events it can be stored, plays while songs are queued, and its rounds only increase', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      let party = EMPTY;
      for (const [n, each] of events.entries()) {
        const next = partyAfter(party, each, n * 1_000);
        expect(next.round).toBeGreaterThanOrEqual(party.round);
        expect(next.current === undefined && next.queue.length > 0).toBe(false);
        expect(partySchema.parse(JSON.parse(JSON.stringify(next)))).toEqual(JSON.parse(JSON.stringify(next)));
        party = next;
      }
    }),
  );
});
