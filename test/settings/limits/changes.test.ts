import { describe, expect, it } from 'vitest';
import type { Limit } from '../../../src/core/moderation.ts';
import { MOST_LIMITS, readSettings } from '../../../src/settings/decisions.ts';
import {
  keptWith,
  resetLimit,
  setExemption,
  setLimit,
  setPause,
} from '../../../src/settings/limits/changes.ts';
import { describeLimit, describeLimitName, timeUntil } from '../../../src/settings/limits/words.ts';

const DISCORD = { platform: 'discord' };
const EMPTY = readSettings('server', undefined);
const PERSONAL = { scope: 'person', per: 'day', of: 'requests', most: 3 } as const satisfies Limit;
const SONGS = { ...PERSONAL, family: 'song' } as const satisfies Limit;

describe('to set a limit', () => {
  it('adds it, or replaces the one of the same name, and tells what was before', () => {
    const first = setLimit(PERSONAL, DISCORD)(EMPTY);
    expect(first).toEqual({
      settings: { ...EMPTY, limits: [PERSONAL] },
      trace: { what: 'limit', from: 'none', to: '3 requests per person and day' },
    });
    const both = setLimit(SONGS, DISCORD)(first?.settings ?? EMPTY)?.settings ?? EMPTY;
    expect(both.limits).toEqual([PERSONAL, SONGS]);
    expect(setLimit({ ...PERSONAL, most: 1 }, DISCORD)(both)).toEqual({
      settings: { ...EMPTY, limits: [SONGS, { ...PERSONAL, most: 1 }] },
      trace: { what: 'limit', from: '3 requests per person and day', to: '1 request per person and day' },
    });
  });

  it.each<[string, Partial<Limit>]>([
    ['another scope', { scope: 'server' }],
    ['another family', { family: 'ask' }],
    ['another time', { per: 'hour' }],
    ['units', { of: 'units' }],
    ['somebody', { who: { type: 'person', id: 'ada' } }],
    ['somebody else', { who: { type: 'person', id: 'bob' } }],
    ['a role of that id', { who: { type: 'role', id: 'ada' } }],
  ])('for %s leaves the others', (_name, more) => {
    const known = {
      ...EMPTY,
      limits: [PERSONAL, { ...PERSONAL, who: { type: 'person' as const, id: 'eve' } }],
    };
    expect(setLimit({ ...PERSONAL, ...more }, DISCORD)(known)?.settings.limits).toHaveLength(3);
  });

  it('is refused for everybody, and where there are too many', () => {
    expect(() => setLimit({ ...PERSONAL, scope: 'deployment' }, DISCORD)(EMPTY)).toThrow(
      'Only whoever runs this bot',
    );
    const many = Array.from({ length: MOST_LIMITS }, (_, index) => ({
      ...PERSONAL,
      who: { type: 'person' as const, id: `${index}` },
    }));
    const full = { ...EMPTY, limits: many };
    expect(() => setLimit(PERSONAL, DISCORD)(full)).toThrow(`There are ${MOST_LIMITS} limits here already`);
    expect(
      setLimit({ ...PERSONAL, who: { type: 'person', id: '7' } }, DISCORD)(full)?.settings.limits,
    ).toHaveLength(MOST_LIMITS);
    expect(setLimit(PERSONAL, DISCORD)({ ...EMPTY, limits: many.slice(1) })).toBeDefined();
  });
});

describe('to take a limit back', () => {
  it('takes that one, and tells which', () => {
    expect(resetLimit(SONGS, DISCORD)({ ...EMPTY, limits: [PERSONAL, SONGS] })).toEqual({
      settings: { ...EMPTY, limits: [PERSONAL] },
      trace: { what: 'limit', from: '3 songs per person and day', to: 'none on songs per person and day' },
    });
  });

  it('changes nothing where there is none', () => {
    expect(resetLimit(SONGS, DISCORD)({ ...EMPTY, limits: [PERSONAL] })).toBeUndefined();
  });
});

it('to exempt moderators is traced, from what it was', () => {
  const what = 'moderators are exempt from limits';
  expect(setExemption(true)(EMPTY)).toEqual({
    settings: { ...EMPTY, exemptModerators: true },
    trace: { what, from: 'no', to: 'yes' },
  });
  expect(setExemption(false)({ ...EMPTY, exemptModerators: true })?.trace).toEqual({
    what,
    from: 'yes',
    to: 'no',
  });
});

it('to pause is traced, and twice the same changes nothing', () => {
  const paused = setPause(true)(EMPTY);
  expect(paused).toEqual({
    settings: { ...EMPTY, paused: true },
    trace: { what: 'paused', from: 'no', to: 'yes' },
  });
  const settings = paused?.settings ?? EMPTY;
  expect(setPause(false)(settings)?.trace).toEqual({ what: 'paused', from: 'yes', to: 'no' });
  expect([setPause(true)(settings), setPause(false)(EMPTY)]).toEqual([undefined, undefined]);
});

it('a channel’s limit is kept with the channel, any other with the server', () => {
  expect((['channel', 'server', 'person'] as const).map((scope) => keptWith({ scope }))).toEqual([
    'channel',
    'server',
    'server',
  ]);
});

describe('in words, a limit', () => {
  const units = { ...PERSONAL, of: 'units' } as const;
  it.each<[Limit, string, string]>([
    [PERSONAL, '3 requests per person and day', 'requests per person and day'],
    [{ ...SONGS, most: 1 }, '1 song per person and day', 'songs per person and day'],
    [{ ...units, most: 1 }, '1 unit per person and day', 'units for requests per person and day'],
    [
      { ...units, most: 1_000, family: 'song' },
      '1,000 units for songs per person and day',
      'units for songs per person and day',
    ],
    [{ ...PERSONAL, scope: 'server' }, '3 requests per day in this server, for all together', ''],
    [{ ...PERSONAL, scope: 'deployment' }, '3 requests per day for everybody who uses this bot', ''],
    [
      { ...PERSONAL, who: { type: 'role', id: '7', name: 'DJ' } },
      '3 requests per day for each person with the role DJ',
      '',
    ],
    [
      { ...PERSONAL, who: { type: 'role', id: '7' } },
      '3 requests per day for each person with the role 7',
      '',
    ],
    [{ ...PERSONAL, who: { type: 'person', id: '7', name: 'Ada' } }, '3 requests per day for Ada', ''],
    [{ ...PERSONAL, who: { type: 'person', id: '7' } }, '3 requests per day for 7', ''],
  ])('%o is %s', (limit, words, name) => {
    expect(describeLimit(limit, DISCORD)).toBe(words);
    if (name) expect(describeLimitName(limit, DISCORD)).toBe(name);
  });

  it('names a workspace where there are workspaces', () => {
    const shared = { ...PERSONAL, scope: 'server' } as const;
    expect(describeLimit(shared, { platform: 'slack' })).toContain('in this workspace');
  });

  it.each([
    [0, '1 min'],
    [60_001, '2 min'],
    [59 * 60_000, '59 min'],
    [60 * 60_000, '1 h'],
    [200 * 60_000, '3 h 20 min'],
  ])('has room again in %i ms: %s', (ms, words) => expect(timeUntil(1_000 + ms, 1_000)).toBe(words));
});
