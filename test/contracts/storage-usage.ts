import { expect, test } from 'vitest';
import type { Ceiling, Reservation } from '../../src/storage/usage.ts';
import type { StorageUnderTest } from './storage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-03-10T12:00:00Z');

let ids = 0;

function request(at: number, more: Partial<Reservation> = {}): Reservation {
  return {
    id: `discord:event-${++ids}`,
    at,
    expiresAt: at + HOUR,
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

/** What people used: atomic, sliding, given back. */
export function usageContract(current: StorageUnderTest): void {
  const usage = () => current.storage.usage;
  const reserve = (at: number, ceilings: Ceiling[], more: Partial<Reservation> = {}) =>
    usage().reserve(request(at, more), ceilings, at);

  test('of a hundred at once, exactly as many pass as the limit has room for', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => reserve(NOON, [daily(10)])));
    expect(answers.filter(({ type }) => type === 'reserved')).toHaveLength(10);
    expect(await usage().used(['person ada', 'server'], NOON - DAY)).toEqual([
      { requests: 10, units: 0 },
      { requests: 10, units: 0 },
    ]);
  });

  test('one ceiling without room keeps everything from counting', async () => {
    await reserve(NOON, [daily(5), daily(1, { counter: 'server' })]);
    const refused = await reserve(NOON + 1, [daily(5), daily(1, { counter: 'server' })]);
    expect(refused).toEqual({ type: 'refused', ceiling: 1, freesAt: NOON + DAY });
    expect(await usage().used(['person ada'], NOON - DAY)).toEqual([{ requests: 1, units: 0 }]);
  });

  test('a refusal says when there is room again, and then there is', async () => {
    const hourly = daily(2, { windowMs: HOUR });
    for (const minute of [0, 10]) await reserve(NOON + minute * 60_000, [], { expiresAt: NOON + DAY });
    const refused = await reserve(NOON + 20 * 60_000, [hourly]);
    expect(refused).toEqual({ type: 'refused', ceiling: 0, freesAt: NOON + HOUR });
    expect(await reserve(NOON + HOUR - 1, [hourly])).toMatchObject({ type: 'refused' });
    expect(await reserve(NOON + HOUR, [hourly])).toMatchObject({ type: 'reserved' });
  });

  test('of several full ceilings the one that frees last is named', async () => {
    await reserve(NOON, []);
    const refused = await reserve(NOON + 1, [daily(1, { windowMs: HOUR }), daily(1)]);
    expect(refused).toEqual({ type: 'refused', ceiling: 1, freesAt: NOON + DAY });
  });

  test('0 is none, and no waiting helps', async () => {
    expect(await reserve(NOON, [daily(0)])).toEqual({ type: 'refused', ceiling: 0 });
  });

  test('units are summed, fractions too, and one that costs more than the limit never fits', async () => {
    const budget = daily(10, { of: 'units' });
    expect(await reserve(NOON, [budget], { units: 7.5 })).toMatchObject({ type: 'reserved' });
    expect(await reserve(NOON + 1, [budget], { units: 2.5 })).toMatchObject({ type: 'reserved' });
    expect(await reserve(NOON + 2, [budget], { units: 5 })).toEqual({
      type: 'refused',
      ceiling: 0,
      freesAt: NOON + DAY,
    });
    expect(await reserve(NOON + 2, [budget], { units: 11 })).toEqual({ type: 'refused', ceiling: 0 });
    expect(await reserve(NOON + 2, [budget])).toMatchObject({ type: 'reserved' });
  });

  test('the same id counts once, however often it is reserved and settled', async () => {
    const one = request(NOON);
    expect(await usage().reserve(one, [daily(1)], NOON)).toEqual({ type: 'reserved', known: false });
    expect(await usage().reserve(one, [daily(1)], NOON)).toEqual({ type: 'reserved', known: true });
    await Promise.all([usage().settle(one), usage().settle(one)]);
    await usage().settle(one);
    expect(await usage().used(['server'], NOON - DAY)).toEqual([{ requests: 1, units: 0 }]);
    expect(await usage().days({ platform: 'discord', guild: 'guild' }, '2026-03-10')).toMatchObject([
      { requests: 1 },
    ]);
  });

  test('what is given back makes room at once, and only once', async () => {
    const one = request(NOON);
    await usage().reserve(one, [daily(1)], NOON);
    await Promise.all([usage().giveBack(one.id), usage().giveBack(one.id)]);
    expect(await usage().used(['person ada', 'server'], NOON - DAY)).toEqual([
      { requests: 0, units: 0 },
      { requests: 0, units: 0 },
    ]);
    expect(await reserve(NOON, [daily(1)])).toMatchObject({ type: 'reserved' });
  });

  test('what was settled stays, also when it is given back', async () => {
    const one = request(NOON);
    await usage().reserve(one, [], NOON);
    await usage().settle(one);
    await usage().giveBack(one.id);
    expect(await reserve(NOON + 2 * HOUR, [daily(1)])).toMatchObject({ type: 'refused' });
  });

  test('a reservation that nobody settles is given back after its time, also after a restart', async () => {
    await reserve(NOON, [daily(1)]);
    await current.reopen();
    expect(await reserve(NOON + HOUR - 1, [daily(1)])).toMatchObject({ type: 'refused' });
    expect(await reserve(NOON + HOUR, [daily(1)])).toMatchObject({ type: 'reserved' });
  });

  test('a result that comes after its reservation was given back counts all the same', async () => {
    const late = request(NOON);
    await usage().reserve(late, [], NOON);
    await reserve(NOON + 2 * HOUR, [], { counters: ['other'] });
    expect(await usage().used(['server'], NOON - DAY)).toEqual([{ requests: 0, units: 0 }]);
    await usage().settle(late);
    expect(await usage().used(['server'], NOON - DAY)).toEqual([{ requests: 1, units: 0 }]);
  });

  test('settled usage is told by day, person and family, and survives a restart', async () => {
    const places = [
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
    for (const one of places) await usage().settle(one);
    await reserve(NOON, []);
    await current.reopen();
    const days = await usage().days({ platform: 'discord', guild: 'guild' }, '2026-03-10');
    expect(days).toHaveLength(3);
    expect(days).toEqual(
      expect.arrayContaining([
        { day: '2026-03-10', person: 'ada', displayName: 'Ada', family: 'song', requests: 2, units: 5 },
        { day: '2026-03-11', person: 'ada', displayName: 'Ada', family: 'song', requests: 1, units: 1 },
        {
          day: '2026-03-10',
          person: 'bob "the" b',
          displayName: 'Bob',
          family: 'ask',
          requests: 1,
          units: 0,
        },
      ]),
    );
    expect(await usage().days({ platform: 'discord', guild: 'guild' }, '2026-03-11')).toHaveLength(1);
  });

  test('a person is forgotten in every guild, and nobody else', async () => {
    const where = { platform: 'discord', guild: 'guild' };
    const facts = { ...where, person: 'bob', displayName: 'Bob', family: 'song' };
    await usage().settle(request(NOON));
    await usage().settle(request(NOON, { facts: { ...facts, person: 'ada', guild: 'elsewhere' } }));
    await usage().settle(request(NOON, { facts }));
    await usage().forget('discord', 'ada');
    await usage().forget('slack', 'bob');
    expect(await usage().days(where, '2026-01-01')).toMatchObject([{ person: 'bob' }]);
    expect(await usage().days({ ...where, guild: 'elsewhere' }, '2026-01-01')).toEqual([]);
  });

  test('days that are too old are let go', async () => {
    const where = { platform: 'discord', guild: 'guild' };
    await usage().settle(request(NOON));
    await usage().settle(request(NOON + DAY));
    await usage().prune('2026-03-11', NOON + DAY);
    expect(await usage().days(where, '2026-01-01')).toMatchObject([{ day: '2026-03-11' }]);
  });
}
