import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Address, Person } from '../../../src/core/invocation.ts';
import { EVERYONE, type LimitRule, type Where } from '../../../src/core/moderation.ts';
import type { Work } from '../../../src/core/work.ts';
import { applicableLimits, limitNames, type MeteredJob } from '../../../src/settings/limits/meter.ts';
import { describeLimit, timeUntil } from '../../../src/settings/words.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { ManualClock } from '../../storage/manual-clock.ts';
import { decided, rule } from '../access/rules.ts';
import { type Administered, type AdministeredOptions, administer } from '../administration.ts';
import { memoryStorage } from '../memory-storage.ts';
import { ADA, HERE, MOD, NOTHING_DECIDED, person } from '../samples.ts';

const SONG: Work = {
  route: 'music.generate',
  request: { customMode: false, instrumental: false, model: 'V5', prompt: 'rain' },
};
const QUESTION: Work = { route: 'answer', dialect: 'chat', request: { model: 'chat-small', turns: [] } };
const HOUR = 3_600_000;

let storage: Storage;
let clock: ManualClock;
let administered: Administered;
let events = 0;

beforeEach(async () => {
  ({ storage, clock } = await memoryStorage());
  administered = administer({ storage, clock });
});
afterEach(() => storage.close());

function request(who: Person = ADA, work: Work = SONG, address: Address = HERE): MeteredJob {
  return { invocation: `discord:event-${++events}`, address, person: who, work, createdAt: clock.now() };
}

/** Resolves to `passes`, or to the text of the refusal. */
async function ask(who?: Person, work?: Work, address?: Address): Promise<string> {
  return administered.accept(request(who, work, address)).then(
    () => 'passes',
    (error: Error) => error.message,
  );
}

const set = (limit: Partial<LimitRule> & Pick<LimitRule, 'most'>, where: Where = 'server') =>
  administered
    .moderation(HERE, MOD)
    .rules.set({ type: 'limit', who: EVERYONE, what: 'all', per: 'day', of: 'requests', ...limit }, where);

const decide = (text: string, where: Where = 'server') =>
  administered.moderation(HERE, MOD).rules.set(rule(text), where);

function operate(options: Pick<AdministeredOptions, 'ceilings' | 'costs' | 'isPaused'>): void {
  administered = administer({ storage, clock, ...options });
}

describe('a pause', () => {
  test('of a server applies to everyone there, including moderators, and is in the audit log', async () => {
    const { rules, inForce, audit } = administered.moderation(HERE, MOD);
    expect(await rules.pause(true)).toBe(true);
    expect(await rules.pause(true)).toBe(false);
    expect(await ask()).toContain('Moderators have paused me in this server');
    expect(await ask(MOD)).toContain('/limits resume');
    expect(await ask(ADA, SONG, { ...HERE, guild: 'another' })).toBe('passes');
    expect((await inForce.rules()).paused).toBe(true);
    clock.advance(1_000);
    expect(await rules.pause(false)).toBe(true);
    expect(await ask()).toBe('passes');
    expect((await audit(5)).map(({ what, to }) => [what, to])).toEqual([
      ['paused', 'no'],
      ['paused', 'yes'],
    ]);
  });

  test('of the operator applies everywhere while it lasts', async () => {
    let isPaused = true;
    operate({ isPaused: () => isPaused });
    await expect(administered.accept(request(MOD))).rejects.toMatchObject({
      message: expect.stringContaining('operator has paused'),
      refusedUntil: Number.POSITIVE_INFINITY,
    });
    isPaused = false;
    expect(await ask(MOD)).toBe('passes');
  });
});

describe('a limit', () => {
  test('per person counts each person in the whole server', async () => {
    await set({ most: 2 });
    expect(await ask()).toBe('passes');
    expect(await ask(ADA, SONG, { ...HERE, channel: 'elsewhere' })).toBe('passes');
    expect(await ask()).toContain('2 jobs per person per day');
    expect(await ask(person('bob'))).toBe('passes');
    expect(await ask(ADA, SONG, { ...HERE, guild: 'another' })).toBe('passes');
  });

  test('names itself and the time of the next request, and allows that', async () => {
    await set({ most: 1, per: 'hour', what: 'song' });
    await ask();
    clock.advance(10 * 60_000);
    expect(await ask()).toBe('Limit reached: 1 song per person per hour. Try again in 50 min.');
    clock.advance(50 * 60_000);
    expect(await ask()).toBe('passes');
  });

  test('of one family does not affect others; a limit on everything counts all', async () => {
    await set({ most: 1, what: 'song' });
    await ask();
    expect(await ask()).toContain('1 song per');
    expect(await ask(ADA, QUESTION)).toBe('passes');
    await set({ most: 2 });
    expect(await ask(ADA, QUESTION)).toContain('2 jobs');
  });

  test('of songs in voice channels counts only those that were queued, once each', async () => {
    const queue = async (id: string, who: Person = ADA, play = async () => {}) => {
      const settings = await administered.decisions.read(HERE);
      return administered.meter.countQueued({ id, address: HERE, person: who }, settings, play);
    };
    await set({ most: 1 });
    await ask();
    await set({ most: 2, what: 'party' });
    await queue('a');
    await queue('a');
    await expect(queue('b', ADA, () => Promise.reject(new Error('no channel')))).rejects.toThrow(
      'no channel',
    );
    await queue('c');
    await expect(queue('d')).rejects.toThrow(
      'Limit reached: 2 songs in voice channels per person per day. Try again in 24 h.',
    );
    await queue('e', person('bob'));
    expect(await ask(person('bob'))).toBe('passes');
    const { days } = await administered.moderation(HERE, MOD).report(1);
    expect(days.map(({ family, requests }) => [family, requests])).toEqual([['party', 3]]);
    await administered.moderation(HERE, MOD).rules.pause(true);
    await expect(queue('f', person('eve'))).rejects.toThrow('paused');
  });

  test('includes usage from before it was set', async () => {
    await ask();
    await ask();
    await set({ most: 2 });
    expect(await ask()).toContain('Limit reached');
  });

  test('of 0 allows nothing; without a limit everything is allowed', async () => {
    expect(await ask()).toBe('passes');
    await set({ most: 0, what: 'song' });
    expect(await ask()).toContain('turned this off: 0 songs per person per day');
    await administered.moderation(HERE, MOD).rules.reset({ who: EVERYONE, what: 'song' }, 'server');
    expect(await ask()).toBe('passes');
  });

  test('per person in a channel counts each person there, and does not affect other channels', async () => {
    await set({ most: 1 }, 'channel');
    await ask(ADA, SONG, { ...HERE, channel: 'elsewhere' });
    expect(await ask(ADA, SONG, { ...HERE, channel: 'thread', parent: 'channel' })).toBe('passes');
    expect(await ask()).toContain('1 job per person per day in this channel');
    expect(await ask(person('bob'))).toBe('passes');
    expect(await ask(ADA, SONG, { ...HERE, channel: 'elsewhere' })).toBe('passes');
  });

  test('on a channel counts everyone there and in its threads, but not other channels', async () => {
    await set({ most: 2, together: true }, 'channel');
    await ask(ADA);
    expect(await ask(person('bob'), SONG, { ...HERE, channel: 'thread', parent: 'channel' })).toBe('passes');
    expect(await ask(person('eve'))).toContain('in this channel');
    expect(await ask(person('eve'), SONG, { ...HERE, channel: 'elsewhere' })).toBe('passes');
  });

  test('on a server counts everyone in it', async () => {
    await set({ most: 2, together: true });
    await ask(ADA);
    await ask(person('bob'), SONG, { ...HERE, channel: 'elsewhere' });
    expect(await ask(person('eve'))).toContain('in this server');
    // Usage in other servers and direct messages is neither counted nor limited.
    for (const where of [
      { ...HERE, guild: 'another' },
      { ...HERE, platform: 'slack' },
      { ...HERE, channel: 'direct', direct: true },
    ])
      expect(await ask(ADA, SONG, where)).toBe('passes');
    expect((await administered.limitsInForce({ ...HERE, guild: 'another' }, ADA)).length).toBe(0);
    expect(await administered.limitsInForce(HERE, ADA)).toMatchObject([{ used: 2 }]);
  });

  test('a report of thirty days includes the thirtieth day but not the one before', async () => {
    const used = async (daysAgo: number) => {
      const at = clock.now() - daysAgo * 24 * HOUR;
      await administered.meter.settle({ ...request(), createdAt: at }, 'yes');
    };
    for (const daysAgo of [0, 29, 30, 31]) await used(daysAgo);
    const { days } = await administered.moderation(HERE, MOD).report(30);
    expect(days.map(({ requests }) => requests)).toEqual([1, 1]);
    expect(await administered.moderation(HERE, ADA).own.usage(30)).toMatchObject([{ requests: 2 }]);
  });

  test('set again replaces the limit of the same name', async () => {
    await set({ most: 5 });
    await set({ most: 1 });
    await ask();
    expect(await ask()).toContain('1 job per');
    expect(await administered.limitsInForce(HERE, ADA)).toHaveLength(1);
  });
});

test('a refusal says whether the operator or a moderator can change the limit', async () => {
  const ceiling = { scope: 'personOnPlatform', per: 'day', of: 'requests' } as const;
  operate({ ceilings: [{ ...ceiling, most: 1 }] });
  await ask();
  expect(await ask()).toContain('1 job per person per day, set by the operator. Try again');
  operate({ ceilings: [{ ...ceiling, most: 0 }] });
  expect(await ask()).toContain("set by the operator. Only the bot's operator can change it");
  operate({});
  await set({ most: 0 });
  expect(await ask()).toContain('A moderator can change it');
});

describe('one of several limits of a kind applies', () => {
  const FAN = person('ada', { roles: ['fan', 'patron'] });
  const limits = (who: Person, ...texts: readonly string[]) =>
    applicableLimits(limitNames('song'), who, decided(...texts)).map((limit) => describeLimit(limit, HERE));

  test.each<[string, Person, readonly string[], readonly string[]]>([
    [
      'for a person over their roles, also when it is less',
      FAN,
      ['server: limit ada song 1', 'server: limit @fan song 5'],
      ['1 song per day for Ada'],
    ],
    [
      'the most generous of several roles',
      FAN,
      ['server: limit @fan song 2', 'server: limit @patron song 3', 'server: limit everyone song 1'],
      ['3 songs per day for each person with the role PATRON'],
    ],
    [
      'for a role over everyone, also when it is less',
      FAN,
      ['server: limit everyone song 5', 'server: limit @fan song 1'],
      ['1 song per day for each person with the role FAN'],
    ],
    ['rules for others do not apply', ADA, ['server: limit bob song 0', 'server: limit @fan song 0'], []],
    [
      'of the channel over the server',
      ADA,
      ['server: limit everyone song 1', 'channel: limit everyone song 9'],
      ['9 songs per person per day in this channel'],
    ],
    [
      'but no channel loosens what is set for somebody',
      ADA,
      ['server: limit ada song 1', 'channel: limit everyone song 9'],
      ['1 song per day for Ada'],
    ],
    [
      'and every channel may tighten it',
      ADA,
      ['server: limit ada song 9', 'channel: limit everyone song 1'],
      ['1 song per person per day in this channel'],
    ],
  ])('%s', (_name, who, texts, expected) => {
    expect(limits(who, ...texts)).toEqual(expected);
    expect(limits(who, ...texts.toReversed())).toEqual(expected);
  });

  test('limits of different kinds apply together', () => {
    const kinds = [
      'server: limit everyone song 5 hour',
      'server: limit everyone song 9',
      'server: limit everyone all 20',
      'server: limit everyone song 50 day together',
      'channel: limit everyone song 30 day together',
    ];
    expect(limits(ADA, ...kinds, 'server: limit everyone ask 1')).toHaveLength(5);
  });

  test.each<[string, Person, readonly string[], number]>([
    ['a person, for everything', ADA, ['server: unlimited ada all'], 0],
    ['a role, for everything', FAN, ['server: unlimited @fan all', 'server: limit @patron song 1'], 0],
    ['moderators', MOD, ['server: unlimited moderators all'], 0],
    ['songs, but not the total', ADA, ['server: unlimited ada song'], 1],
    [
      'of songs, where they are limited by name',
      ADA,
      ['server: unlimited ada all', 'server: limit ada song 1'],
      1,
    ],
    ['only what it names', ADA, ['server: unlimited ada ask'], 3],
    ['nobody else', ADA, ['server: unlimited bob all'], 3],
    ['in a channel', ADA, ['channel: unlimited everyone all'], 0],
    [
      'but not where a channel limits everyone',
      ADA,
      ['server: unlimited ada all', 'channel: limit everyone song 1'],
      1,
    ],
  ])('an unlimited rule lifts them from %s', (_whom, who, texts, held) => {
    const everyone = [
      'limit everyone song 5',
      'limit everyone all 20',
      'limit everyone song 50 day together',
    ];
    expect(limits(who, ...everyone.map((text) => `server: ${text}`), ...texts)).toHaveLength(held);
  });
});

test('a request counts for its person, channel, server and everyone, in its family and in total', () => {
  const countersOf = (where: Address) =>
    administered.meter.claim(request(ADA, SONG, where), NOTHING_DECIDED).reservation;
  const { counters, facts, units } = countersOf(HERE);
  expect(counters).toEqual([
    'personInServer:discord:guild:ada:song',
    'personInServer:discord:guild:ada:*',
    'personInChannel:discord:guild:channel:ada:song',
    'personInChannel:discord:guild:channel:ada:*',
    'personOnPlatform:discord:ada:song',
    'personOnPlatform:discord:ada:*',
    'channel:discord:guild:channel:song',
    'channel:discord:guild:channel:*',
    'server:discord:guild:song',
    'server:discord:guild:*',
    'deployment:song',
    'deployment:*',
  ]);
  expect(facts).toEqual({
    platform: 'discord',
    guild: 'guild',
    person: 'ada',
    displayName: 'Ada',
    family: 'song',
  });
  expect(units).toBe(0);
  const direct = countersOf({ platform: 'discord', channel: 'dm:1', person: 'ada' });
  expect(direct.facts.guild).toBe('');
  expect(direct.counters).toEqual([
    'personInServer:discord::ada:song',
    'personInServer:discord::ada:*',
    'personInChannel:discord::dm%3A1:ada:song',
    'personInChannel:discord::dm%3A1:ada:*',
    'personOnPlatform:discord:ada:song',
    'personOnPlatform:discord:ada:*',
    'channel:discord::dm%3A1:song',
    'channel:discord::dm%3A1:*',
    'deployment:song',
    'deployment:*',
  ]);
});

test('failed work is refunded, and settling twice counts once', async () => {
  await set({ most: 1 });
  const failing = request();
  await administered.accept(failing);
  expect(await ask()).toContain('Limit reached');
  await administered.meter.refund(failing);
  const accepted = request();
  await administered.accept(accepted);
  for (let time = 0; time < 2; time += 1) await administered.meter.settle(accepted, 'yes');
  expect(await administered.limitsInForce(HERE, ADA)).toMatchObject([{ used: 1 }]);
});

describe('a channel where every message is a question', () => {
  test('lets each person ask thirty times an hour, unless moderators change the limit', async () => {
    const { answers } = administered.moderation(HERE, MOD);
    await answers.talk(true);
    const [limit] = await administered.limitsInForce(HERE, ADA);
    expect(limit).toMatchObject({ from: 'default', sentence: '30 answers per person per hour' });
    for (let time = 0; time < 30; time += 1) await administered.accept(request(ADA, QUESTION));
    await expect(administered.accept(request(ADA, QUESTION))).rejects.toThrow(
      '30 answers per person per hour',
    );
    await set({ what: 'ask', per: 'hour', most: 31 });
    await administered.accept(request(ADA, QUESTION));
    await expect(administered.accept(request(ADA, QUESTION))).rejects.toThrow(
      '31 answers per person per hour',
    );
    expect(await administered.limitsInForce(HERE, ADA)).toHaveLength(1);
    await administered.moderation(HERE, MOD).rules.reset({ who: EVERYONE, what: 'ask' }, 'server');
    await answers.talk(false);
    await administered.accept(request(ADA, QUESTION));
  });
});

test('a refusal has the time until which it applies', async () => {
  await set({ most: 1, per: 'hour' });
  const freesAt = clock.now() + HOUR;
  await ask();
  clock.advance(60_000);
  await expect(administered.accept(request())).rejects.toMatchObject({ refusedUntil: freesAt });
});

test('metrics count usage by platform, family and model, once for each request, and refusals', async () => {
  operate({
    ceilings: [{ scope: 'personOnPlatform', per: 'day', of: 'requests', most: 1 }],
    costs: { 'song:V5': 2 },
  });
  const accepted = request();
  await administered.accept(accepted);
  await ask();
  const lyrics: Work = { route: 'music.generateLyrics', request: { prompt: 'rain' } };
  for (let time = 0; time < 2; time += 1) await administered.meter.settle(accepted, 'yes');
  const labels = { platform: HERE.platform, family: 'song', model: 'V5' };
  expect(administered.measured).toEqual([
    ['minstrel_limit_refusals_total', { platform: HERE.platform, scope: 'personOnPlatform', family: 'song' }],
    ['minstrel_usage_requests_total', labels],
    ['minstrel_usage_units_total', labels, 2],
  ]);
  operate({});
  const withoutModel = request(ADA, lyrics);
  await administered.accept(withoutModel);
  await administered.meter.settle(withoutModel, 'yes');
  expect(administered.measured[0]).toEqual(['minstrel_usage_requests_total', { ...labels, model: 'none' }]);
});

describe('the default limit of a talk channel', () => {
  const TALK = '30 answers per person per hour';
  const held = async (who: Person, ...texts: readonly string[]) => {
    await administered.moderation(HERE, MOD).answers.talk(true);
    for (const text of texts) await decide(text);
    const settings = await administered.decisions.read(HERE);
    return applicableLimits(limitNames('ask'), who, settings).map((limit) => describeLimit(limit, HERE));
  };

  test.each([
    'limit everyone ask 5 hour together',
    'limit bob ask 5 hour',
    'limit everyone song 5 hour',
    'limit everyone ask 5 day',
  ])('applies together with %s', async (text) => {
    expect(await held(ADA, text)).toContain(TALK);
    const sentences = (await administered.limitsInForce(HERE, ADA)).map(({ sentence }) => sentence);
    expect(sentences).toHaveLength(2);
    expect(sentences).toContain(TALK);
  });

  test('is replaced by a limit of the same kind for the same people', async () => {
    expect(await held(ADA, 'limit ada ask 99 hour')).toEqual(['99 answers per hour for Ada']);
    expect(await held(person('bob'))).toEqual([TALK]);
    expect(await held(person('bob'), 'limit everyone ask 5 hour')).toEqual(['5 answers per person per hour']);
  });

  test('can be lifted like any other, and does not limit songs', async () => {
    expect(await held(ADA, 'unlimited ada ask')).toEqual([]);
    expect(
      applicableLimits(limitNames('song'), person('bob'), await administered.decisions.read(HERE)),
    ).toEqual([]);
  });
});

describe('moderators', () => {
  test('are limited like everyone, unless exempted', async () => {
    await set({ most: 1 });
    await ask(MOD);
    expect(await ask(MOD)).toContain('Limit reached');
    await decide('unlimited moderators all');
    expect(await ask(MOD)).toBe('passes');
    await ask();
    expect(await ask()).toContain('Limit reached');
  });

  test('cannot lift the operator’s limits, even for themselves', async () => {
    operate({ ceilings: [{ scope: 'personOnPlatform', per: 'day', of: 'requests', most: 1 }] });
    await decide('unlimited moderators all');
    await set({ most: 100 });
    await ask(MOD);
    expect(await ask(MOD)).toContain('1 job per person per day');
  });
});

describe('the operator’s limits', () => {
  test('count a person in all servers, and everyone together', async () => {
    operate({
      ceilings: [
        { scope: 'personOnPlatform', per: 'day', of: 'requests', most: 2 },
        { scope: 'deployment', per: 'hour', of: 'requests', most: 3 },
      ],
    });
    await ask(ADA);
    await ask(ADA, SONG, { ...HERE, guild: 'another' });
    expect(await ask(ADA, SONG, { platform: 'discord', channel: 'dm', person: 'ada' })).toContain(
      'per person per day',
    );
    await ask(person('bob'));
    expect(await ask(person('eve'), SONG, { ...HERE, platform: 'slack' })).toContain(
      'shared by everyone who uses this bot',
    );
  });

  test('on servers do not count direct messages', async () => {
    operate({ ceilings: [{ scope: 'server', per: 'day', of: 'requests', most: 1 }] });
    const direct = { platform: 'discord', channel: 'dm', person: 'ada' };
    await ask(ADA, SONG, direct);
    expect(await ask(person('bob'), SONG, { ...direct, channel: 'other' })).toBe('passes');
    await ask();
    expect(await ask()).toContain('in this server');
    operate({ ceilings: [{ scope: 'server', per: 'day', of: 'requests', most: 0 }] });
    expect(await ask(ADA, SONG, direct)).toBe('passes');
  });
});

describe('units', () => {
  beforeEach(() => operate({ costs: { song: 10, 'song:V4': 3, 'music.vocalRemoval': 0.5, ask: 1 } }));

  test('cost the operator’s price by model, else by route, else by family', async () => {
    await set({ together: true, of: 'units', most: 13.5 });
    const older: Work = {
      route: 'music.generate',
      request: { customMode: false, instrumental: false, model: 'V4', prompt: 'rain' },
    };
    const stems: Work = {
      route: 'music.vocalRemoval',
      request: { taskId: 'task', audioId: 'audio', type: 'separate_vocal' },
    };
    expect(await ask(ADA, SONG)).toBe('passes');
    expect(await ask(ADA, older)).toBe('passes');
    expect(await ask(ADA, stems)).toBe('passes');
    expect(await ask(ADA, QUESTION)).toContain('13.5 units per day in this server');
  });

  test('work that costs more than the limit is refused with its price, without a time', async () => {
    await set({ of: 'units', most: 9 });
    expect(await ask()).toBe(
      'This costs 10 units, more than the limit allows: 9 units per person per day. Choose something that costs less.',
    );
  });

  test('work without a price costs nothing', async () => {
    await set({ of: 'units', most: 1 });
    const picture: Work = { route: 'media.image', request: { model: 'paint', prompt: 'a fox' } };
    for (let index = 0; index < 5; index += 1) expect(await ask(ADA, picture)).toBe('passes');
  });
});

test('show lists every limit with the person’s usage', async () => {
  operate({ ceilings: [{ scope: 'deployment', per: 'day', of: 'requests', most: 100 }] });
  await set({ most: 5, what: 'song' });
  await set({ together: true, per: 'hour', most: 9 }, 'channel');
  await ask(ADA);
  await ask(person('bob'));
  clock.advance(2 * HOUR - 1);
  const shown = await administered.limitsInForce(HERE, ADA);
  expect(shown.map(({ sentence, from, used }) => [sentence, from, used])).toEqual([
    ['9 jobs per hour in this channel, shared by everyone', 'channel', 0],
    ['5 songs per person per day', 'server', 1],
    ['100 jobs per day, shared by everyone who uses this bot', 'deployment', 2],
  ]);
});

test.each([
  [0, '1 min'],
  [60_001, '2 min'],
  [59 * 60_000, '59 min'],
  [60 * 60_000, '1 h'],
  [200 * 60_000, '3 h 20 min'],
])('the limit frees in %i ms: %s', (ms, words) => expect(timeUntil(1_000 + ms, 1_000)).toBe(words));
