import { expect, test } from 'vitest';
import type { Ceiling, Reservation } from '../../src/storage/usage.ts';
import { songJob } from '../storage/jobs.ts';
import { usageDays } from '../storage/usage-days.ts';
import type { StorageUnderTest } from './storage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-03-10T12:00:00Z');

let ids = 0;

function request(at: number, more: Partial<Reservation> = {}): Reservation {
  return {
    id: `discord:event-${++ids}`,
    at,
    units: 0,
    counters: ['person ada', 'server'],
    facts: { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' },
    ...more,
  };
}

const daily = (most: number, more: Partial<Ceiling> = {}): Ceiling => ({
  counter: 'person ada',
  windowMs: DAY,
  of: 'requests',
  most,
  ...more,
});

/** Usage limits: atomic reservations, sliding windows, refunds. */
export function usageContract(current: StorageUnderTest): void {
  const usage = () => current.storage.usage;
  const accept = (reservation: Reservation, ceilings: Ceiling[], now: number) =>
    current.storage.accept({
      job: songJob({ id: reservation.id.replace(':', '-'), invocation: reservation.id }),
      reservation,
      ceilings,
      at: now,
      now,
    });
  const reserve = (at: number, ceilings: Ceiling[], more: Partial<Reservation> = {}) =>
    accept(request(at, more), ceilings, at);
  const used = (...counters: string[]) =>
    Promise.all(counters.map((counter) => usage().used(counter, NOON - DAY)));

  test('accepts exactly the limit of a hundred concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => reserve(NOON, [daily(10)])));
    expect(answers.filter(({ type }) => type === 'accepted')).toHaveLength(10);
    expect(await used('person ada', 'server')).toEqual([
      { requests: 10, units: 0 },
      { requests: 10, units: 0 },
    ]);
  });

  test('reserves, settles and refunds usage without a job', async () => {
    const reserveAlone = (id: string) => usage().reserve(request(NOON, { id }), [daily(2)], NOON);
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(reserveAlone));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(2);
    const refusal = { type: 'refused', ceiling: 0, freesAt: NOON + DAY };
    expect(await reserveAlone('e')).toEqual(refusal);
    const counted = ['a', 'b', 'c', 'd'].filter((_, n) => answers[n] === undefined);
    const [first = '', second = ''] = counted;
    expect(await reserveAlone(first)).toBeUndefined();
    await usage().settle(request(NOON, { id: first }), 'yes');
    for (const id of [first, second]) await usage().refund(id);
    expect(await used('person ada')).toEqual([{ requests: 1, units: 0 }]);
  });

  test('counts nothing if one limit is exceeded', async () => {
    await reserve(NOON, [daily(5), daily(1, { counter: 'server' })]);
    const refused = await reserve(NOON + 1, [daily(5), daily(1, { counter: 'server' })]);
    expect(refused).toEqual({ type: 'refused', ceiling: 1, freesAt: NOON + DAY });
    expect(await used('person ada')).toEqual([{ requests: 1, units: 0 }]);
  });

  test('a refusal returns the time when more is allowed', async () => {
    const hourly = daily(2, { windowMs: HOUR });
    for (const minute of [0, 10]) await reserve(NOON + minute * 60_000, []);
    const refused = await reserve(NOON + 20 * 60_000, [hourly]);
    expect(refused).toEqual({ type: 'refused', ceiling: 0, freesAt: NOON + HOUR });
    expect(await reserve(NOON + HOUR - 1, [hourly])).toMatchObject({ type: 'refused' });
    expect(await reserve(NOON + HOUR, [hourly])).toMatchObject({ type: 'accepted' });
  });

  test('returns the limit that frees last if several are full', async () => {
    await reserve(NOON, []);
    const refused = await reserve(NOON + 1, [daily(1, { windowMs: HOUR }), daily(1)]);
    expect(refused).toEqual({ type: 'refused', ceiling: 1, freesAt: NOON + DAY });
  });

  test('a limit of 0 refuses everything, without a time', async () => {
    expect(await reserve(NOON, [daily(0)])).toEqual({ type: 'refused', ceiling: 0 });
  });

  test('adds fractional units, and always refuses requests above the limit', async () => {
    const budget = daily(10, { of: 'units' });
    expect(await reserve(NOON, [budget], { units: 7.5 })).toMatchObject({ type: 'accepted' });
    expect(await reserve(NOON + 1, [budget], { units: 2.5 })).toMatchObject({ type: 'accepted' });
    expect(await reserve(NOON + 2, [budget], { units: 5 })).toEqual({
      type: 'refused',
      ceiling: 0,
      freesAt: NOON + DAY,
    });
    expect(await reserve(NOON + 2, [budget], { units: 11 })).toEqual({ type: 'refused', ceiling: 0 });
    expect(await reserve(NOON + 2, [budget])).toMatchObject({ type: 'accepted' });
  });

  test('counts the same id once, even if it is reserved and settled repeatedly', async () => {
    const reservation = request(NOON);
    expect(await accept(reservation, [daily(1)], NOON)).toEqual({ type: 'accepted' });
    expect(await accept(reservation, [daily(1)], NOON)).toMatchObject({ type: 'known' });
    await Promise.all([usage().settle(reservation, 'yes'), usage().settle(reservation, 'yes')]);
    await usage().settle(reservation, 'yes');
    expect(await used('server')).toEqual([{ requests: 1, units: 0 }]);
    expect(await usageDays(usage(), { platform: 'discord', guild: 'guild' }, '2026-03-10')).toMatchObject([
      { requests: 1 },
    ]);
  });

  test('a refund takes effect immediately and only once', async () => {
    const reservation = request(NOON);
    await accept(reservation, [daily(1)], NOON);
    await Promise.all([usage().refund(reservation.id), usage().refund(reservation.id)]);
    expect(await used('person ada', 'server')).toEqual([
      { requests: 0, units: 0 },
      { requests: 0, units: 0 },
    ]);
    expect(await reserve(NOON, [daily(1)])).toMatchObject({ type: 'accepted' });
  });

  test('does not refund settled usage', async () => {
    const reservation = request(NOON);
    await accept(reservation, [], NOON);
    await usage().settle(reservation, 'yes');
    await usage().refund(reservation.id);
    expect(await reserve(NOON + 2 * HOUR, [daily(1)])).toMatchObject({ type: 'refused' });
  });

  test('an unsettled reservation counts until its window ends, even after a restart', async () => {
    await reserve(NOON, [daily(1)]);
    await current.reopen();
    expect(await reserve(NOON + DAY - 1, [daily(1)])).toMatchObject({ type: 'refused' });
    expect(await reserve(NOON + DAY, [daily(1)])).toMatchObject({ type: 'accepted' });
  });

  test('counts a result that arrives after a refund', async () => {
    const late = request(NOON);
    await accept(late, [], NOON);
    await usage().refund(late.id);
    expect(await used('server')).toEqual([{ requests: 0, units: 0 }]);
    await usage().settle(late, 'yes');
    expect(await used('server')).toEqual([{ requests: 1, units: 0 }]);
  });

  test('usage settled for another counter counts only there', async () => {
    const reservation = request(NOON);
    await accept(reservation, [], NOON);
    await usage().settle({ ...reservation, counters: ['person ada', 'channel'] }, 'yes');
    expect(await used('person ada', 'channel', 'server')).toEqual([
      { requests: 1, units: 0 },
      { requests: 1, units: 0 },
      { requests: 0, units: 0 },
    ]);
  });

  test.each(['yes', 'uncertain'] as const)(
    'counts the settled price, in the window and for the day (%s)',
    async (charged) => {
      const reservation = request(NOON, { units: 1 });
      await accept(reservation, [], NOON);
      await usage().settle({ ...reservation, units: 5 }, charged);
      expect(await used('person ada', 'server')).toEqual([
        { requests: 1, units: 5 },
        { requests: 1, units: 5 },
      ]);
      const days = await usageDays(usage(), { platform: 'discord', guild: 'guild' });
      expect(days).toMatchObject([{ requests: 1, units: 5 }]);
    },
  );

  test('counts uncertain charges separately, and confirms them once', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    const reservation = request(NOON, { units: 2 });
    await accept(reservation, [], NOON);
    expect(await usage().settle(reservation, 'uncertain')).toBe(true);
    expect(await usage().settle(reservation, 'uncertain')).toBe(false);
    await usage().settle(request(NOON), 'yes');
    expect(await usageDays(usage(), server, '2026-01-01')).toMatchObject([
      { requests: 2, units: 2, uncertain: 1 },
    ]);
    await usage().refund(reservation.id);
    expect(await used('server')).toEqual([{ requests: 2, units: 2 }]);
    for (let again = 0; again < 2; again += 1) expect(await usage().settle(reservation, 'yes')).toBe(false);
    expect(await usage().settle(reservation, 'uncertain')).toBe(false);
    expect(await usageDays(usage(), server, '2026-01-01')).toMatchObject([
      { requests: 2, units: 2, uncertain: 0 },
    ]);
  });

  test('decimal prices fill a limit exactly', async () => {
    const budget = daily(0.3, { of: 'units' });
    for (let time = 0; time < 3; time += 1)
      expect(await reserve(NOON + time, [budget], { units: 0.1 })).toMatchObject({ type: 'accepted' });
    expect(await reserve(NOON + 3, [budget], { units: 0.1 })).toMatchObject({ freesAt: NOON + DAY });
  });

  test('accepts work without a price when a limit in units is full or lowered', async () => {
    await reserve(NOON, [], { units: 5 });
    const lowered = daily(3, { of: 'units' });
    expect(await reserve(NOON + 1, [lowered], { units: 0 })).toMatchObject({ type: 'accepted' });
    expect(await reserve(NOON + 2, [lowered], { units: 1 })).toMatchObject({ type: 'refused' });
  });

  test('reports settled usage by day, person and family, even after a restart', async () => {
    const reservations = [
      request(NOON, { units: 2 }),
      request(NOON, { units: 3 }),
      request(NOON + DAY, { units: 1 }),
      request(NOON, {
        facts: {
          platform: 'discord',
          guild: 'guild',
          person: 'bob "the" b',
          displayName: 'Bob',
          family: 'ask',
        },
      }),
      request(NOON, {
        facts: {
          platform: 'discord',
          guild: 'elsewhere',
          person: 'ada',
          displayName: 'Ada',
          family: 'song',
        },
      }),
    ];
    for (const reservation of reservations) await usage().settle(reservation, 'yes');
    await reserve(NOON, []);
    await current.reopen();
    const days = await usageDays(usage(), { platform: 'discord', guild: 'guild' }, '2026-03-10');
    expect(days).toHaveLength(3);
    expect(days).toEqual(
      expect.arrayContaining([
        {
          day: '2026-03-10',
          person: 'ada',
          displayName: 'Ada',
          family: 'song',
          requests: 2,
          units: 5,
          uncertain: 0,
        },
        {
          day: '2026-03-11',
          person: 'ada',
          displayName: 'Ada',
          family: 'song',
          requests: 1,
          units: 1,
          uncertain: 0,
        },
        {
          day: '2026-03-10',
          person: 'bob "the" b',
          displayName: 'Bob',
          family: 'ask',
          requests: 1,
          units: 0,
          uncertain: 0,
        },
      ]),
    );
    expect(await usageDays(usage(), { platform: 'discord', guild: 'guild' }, '2026-03-11')).toHaveLength(1);
  });

  test('sums up a server’s usage by day and family, and by the top people', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    for (let index = 0; index < 6; index += 1) {
      const person = `person ${index % 3}`;
      for (let times = 0; times <= index % 3; times += 1) {
        const family = index < 3 ? 'song' : 'ask';
        const facts = { ...server, person, displayName: `Name ${index}`, family };
        await usage().settle(request(NOON + (index < 3 ? 0 : DAY), { units: 2, facts }), 'yes');
      }
    }
    await usage().settle(request(NOON - DAY), 'yes');
    await usage().settle(
      request(NOON, {
        facts: { ...server, guild: 'elsewhere', person: 'x', displayName: 'X', family: 'song' },
      }),
      'yes',
    );
    const { days, ...people } = await usage().summary(server, '2026-03-10', 2);
    expect(days).toEqual([
      { day: '2026-03-10', family: 'song', requests: 6, units: 12, uncertain: 0 },
      { day: '2026-03-11', family: 'ask', requests: 6, units: 12, uncertain: 0 },
    ]);
    expect(people).toEqual({
      people: [
        { person: 'person 2', displayName: 'Name 5', requests: 6, units: 12, uncertain: 0 },
        { person: 'person 1', displayName: 'Name 4', requests: 4, units: 8, uncertain: 0 },
      ],
      peopleInAll: 3,
    });
    expect(await usage().byFamily(server, 'person 2', '2026-03-10')).toEqual(
      expect.arrayContaining([
        { family: 'song', requests: 3, units: 6, uncertain: 0 },
        { family: 'ask', requests: 3, units: 6, uncertain: 0 },
      ]),
    );
    expect(await usage().byFamily(server, 'person 2', '2026-03-11')).toEqual([
      { family: 'ask', requests: 3, units: 6, uncertain: 0 },
    ]);
    expect(await usage().summary({ ...server, guild: 'nowhere' }, '2026-03-10', 2)).toEqual({
      days: [],
      people: [],
      peopleInAll: 0,
    });
  });

  test('restores history from another storage once, without overwriting its own', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    await usage().settle(request(NOON, { units: 2 }), 'yes');
    const [local] = await Array.fromAsync(usage().history());
    if (!local) throw new TypeError('Nothing was settled');
    const imported = {
      ...local,
      day: '2026-02-01',
      person: 'eve',
      displayName: 'Eve',
      requests: 7,
      units: 9,
    };
    expect(await usage().restore({ ...local, requests: 99 })).toBe(false);
    expect(await usage().restore(imported)).toBe(true);
    expect(await usage().restore({ ...imported, requests: 1 })).toBe(false);
    expect(await Array.fromAsync(usage().history())).toEqual(expect.arrayContaining([local, imported]));
    expect((await usage().summary(server, '2026-01-01', 5)).peopleInAll).toBe(2);
  });

  test('replaces half a character at the end of a display name', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    const facts = { ...server, person: 'eve', displayName: 'Eve \ud83d', family: 'song' };
    expect(await usage().settle(request(NOON, { facts }), 'yes')).toBe(true);
    expect(await usageDays(usage(), server, '2026-01-01')).toMatchObject([
      { person: 'eve', displayName: 'Eve \ufffd' },
    ]);
  });

  test('forgets a person in every server, and nobody else', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    const facts = { ...server, person: 'bob', displayName: 'Bob', family: 'song' };
    await usage().settle(request(NOON), 'yes');
    await usage().settle(request(NOON, { facts: { ...facts, person: 'ada', guild: 'elsewhere' } }), 'yes');
    await usage().settle(request(NOON, { facts }), 'yes');
    await usage().forget('discord', 'ada');
    await usage().forget('slack', 'bob');
    expect(await usageDays(usage(), server, '2026-01-01')).toMatchObject([{ person: 'bob' }]);
    expect(await usageDays(usage(), { ...server, guild: 'elsewhere' }, '2026-01-01')).toEqual([]);
  });

  test('prunes old days', async () => {
    const server = { platform: 'discord', guild: 'guild' };
    await usage().settle(request(NOON), 'yes');
    await usage().settle(request(NOON + DAY), 'yes');
    await usage().prune('2026-03-11', NOON + DAY);
    expect(await usageDays(usage(), server, '2026-01-01')).toMatchObject([{ day: '2026-03-11' }]);
  });
}
