/** Who may use what, by the rules alone: no storage, no bot. */
import { describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import type { Address, Person } from '../../../src/core/invocation.ts';
import { EVERYONE, type Subject } from '../../../src/core/moderation.ts';
import { createAccess } from '../../../src/settings/access/access.ts';
import {
  addSubject,
  allow,
  forbid,
  removeSubject,
  resetAccess,
} from '../../../src/settings/access/changes.ts';
import { setValue } from '../../../src/settings/answers.ts';
import {
  type Edit,
  type KeptSettings,
  MOST_SUBJECTS,
  readSettings,
} from '../../../src/settings/decisions.ts';
import { ADA, HERE, MOD, NOTHING_DECIDED, person } from '../samples.ts';

const DJ: Subject = { type: 'role', id: 'dj', name: 'DJ' };
const VJ: Subject = { type: 'role', id: 'vj', name: 'VJ' };
const NAMELESS: Subject = { type: 'role', id: 'nameless' };
const BOB: Subject = { type: 'person', id: 'bob', name: 'Bob' };
const VISITOR = person('ada', { visitor: true });
const DIRECT: Address = { platform: 'slack', channel: 'dm', person: 'ada', direct: true };

const decided = (scope: 'server' | 'channel', ...edits: readonly Edit[]): KeptSettings =>
  edits.reduce((settings, edit) => edit(settings)?.settings ?? settings, readSettings(scope, undefined));

interface Decided {
  readonly server?: readonly Edit[];
  readonly channel?: readonly Edit[];
  readonly served?: readonly string[];
  readonly address?: Address;
}

/** `in`, or the sentence of the refusal. */
async function enter(
  command: string,
  who: Person,
  { server = [], channel = [], served = [], address = HERE }: Decided = {},
): Promise<string> {
  const admit = createAccess({ decisions: { read: async () => NOTHING_DECIDED }, served, commands });
  const known = { server: decided('server', ...server), channel: decided('channel', ...channel) };
  return await admit({ command, address, person: who }, known).then(
    ({ settings }) => (settings === known ? 'in' : 'in, by other settings'),
    (error: Error) => error.message,
  );
}

describe('a refusal says who may', () => {
  it.each<[string, readonly Edit[], string]>([
    ['nobody', [forbid('song', undefined)], 'Moderators have switched /song off here.'],
    ['a role', [allow('song', DJ)], 'Here /song is for DJ only.'],
    ['two roles', [allow('song', DJ), allow('song', VJ)], 'Here /song is for DJ, VJ only.'],
    ['a role and a person', [allow('song', DJ), allow('song', BOB)], 'Here /song is for DJ only.'],
    ['one person', [allow('song', BOB)], 'Here /song is only for people whom moderators have named.'],
    ['a role without a name', [allow('song', NAMELESS)], 'only for people whom moderators have named'],
    ['one of two names', [allow('song', NAMELESS), allow('song', VJ)], 'Here /song is for VJ only.'],
    ['not this one', [forbid('song', { ...BOB, id: 'ada' })], 'A moderator has barred you from /song here.'],
    ['not blocked people', [addSubject('blocked', { ...BOB, id: 'ada' })], 'A moderator has blocked you'],
  ])('%s', async (_who, server, sentence) => {
    expect(await enter('song', ADA, { server })).toContain(sentence);
  });

  it('moderators, for what is theirs', async () => {
    expect(await enter('models', ADA)).toBe('Only moderators may use /models.');
    expect(await enter('models', MOD)).toBe('in');
    expect(await enter('models', ADA, { server: [addSubject('moderators', { ...BOB, id: 'ada' })] })).toBe(
      'in',
    );
  });
});

it('who was appointed comes in as a moderator, by their role too', async () => {
  const admit = createAccess({ decisions: { read: async () => NOTHING_DECIDED }, served: [], commands });
  const known = { ...NOTHING_DECIDED, server: decided('server', addSubject('moderators', DJ)) };
  const asking = { command: 'song', address: HERE };
  const dj = { ...ADA, roles: ['dj'] };
  expect((await admit({ ...asking, person: dj }, known)).person).toEqual({ ...dj, moderator: true });
  expect((await admit({ ...asking, person: ADA }, known)).person).toEqual(ADA);
});

describe('is let in', () => {
  it.each<[string, Person, Decided]>([
    ['everybody where nothing is decided', ADA, {}],
    ['a person with the role', person('ada', { roles: ['x', 'dj'] }), { server: [allow('song', DJ)] }],
    ['a person who was named', person('bob'), { server: [allow('song', DJ), allow('song', BOB)] }],
    ['everybody, by that name', ADA, { server: [allow('song', EVERYONE)] }],
    ['a moderator, whatever is decided', MOD, { server: [forbid('all', undefined), forbid('song', BOB)] }],
    ['who is not meant', ADA, { server: [forbid('song', BOB), addSubject('blocked', BOB)] }],
    [
      'a person of that id, where a role is blocked',
      ADA,
      { server: [addSubject('blocked', { ...DJ, id: 'ada' })] },
    ],
    ['by the channel', ADA, { server: [forbid('song', undefined)], channel: [allow('song', undefined)] }],
    [
      'by the channel for all',
      ADA,
      { server: [forbid('song', undefined)], channel: [allow('all', undefined)] },
    ],
    ['by the command’s own rule', ADA, { server: [forbid('all', undefined), allow('song', undefined)] }],
    ['after it was taken back', ADA, { server: [forbid('song', undefined), resetAccess('song')] }],
  ])('%s', async (_who, who, settings) => {
    expect(await enter('song', who, settings)).toBe('in');
  });

  it('nobody whom a rule for all bars, however the command is allowed', async () => {
    const bars = [forbid('all', { ...BOB, id: 'ada' })];
    for (const where of [{ server: bars }, { channel: bars }])
      expect(
        await enter('song', ADA, { ...where, channel: [...(where.channel ?? []), allow('song', undefined)] }),
      ).toContain('barred you');
  });

  it('everybody to help, also the blocked', async () => {
    const server = [addSubject('blocked', EVERYONE), forbid('all', undefined)];
    expect(await enter('minstrel', ADA, { server })).toBe('in');
    expect(await enter('song', ADA, { server })).toContain('blocked you');
  });
});

describe('people of another workspace', () => {
  it.each<[string, Decided, boolean]>([
    ['are not served', {}, false],
    ['are served where moderators allow it', { server: [setValue('visitors', true)] }, true],
    ['are served in a channel where it is allowed', { channel: [setValue('visitors', true)] }, true],
    [
      'are not served in a channel where it is not',
      { server: [setValue('visitors', true)], channel: [setValue('visitors', false)] },
      false,
    ],
    ['are served in direct messages', { address: DIRECT }, true],
  ])('%s', async (_name, settings, isServed) => {
    const said = await enter('song', VISITOR, settings);
    expect(said).toContain(isServed ? 'in' : 'You belong to another workspace');
    expect(said === 'in').toBe(isServed);
    expect(await enter('song', ADA, settings)).toBe('in');
    expect(await enter('minstrel', VISITOR, settings)).toBe('in');
  });
});

describe('the servers that the operator serves', () => {
  const NOT_SERVED = 'Whoever runs this bot has not opened it to this place. Please ask them.';
  const direct = { platform: 'discord', channel: 'dm', person: 'ada' };

  it.each<[string, readonly string[], Address, string]>([
    ['all, when none is named', [], HERE, 'in'],
    ['by id', ['guild'], HERE, 'in'],
    ['by platform and id', ['discord:guild'], HERE, 'in'],
    ['of that platform only', ['slack:guild'], HERE, NOT_SERVED],
    ['no others, not even for moderators', ['another', 'direct'], HERE, NOT_SERVED],
    ['direct messages, where they are named', ['guild', 'direct'], direct, 'in'],
    ['no direct messages else', ['guild'], direct, NOT_SERVED],
    ['the operator’s terminal', ['guild'], { ...direct, platform: 'terminal' }, 'in'],
    ['the operator’s browser', ['guild'], { ...HERE, platform: 'web', guild: 'playground' }, 'in'],
  ])('%s', async (_name, served, address, expected) => {
    expect(await enter('models', MOD, { served, address })).toBe(expected);
  });
});

describe('moderators read of each change', () => {
  const traceOf = (edit: Edit, ...before: readonly Edit[]) => {
    const trace = edit(decided('server', ...before))?.trace;
    return trace && `${trace.what}: ${trace.from} → ${trace.to}`;
  };

  it.each<[Edit, readonly Edit[], string | undefined]>([
    [allow('song', undefined), [], 'access to song: not decided here → everyone'],
    [allow('song', DJ), [], 'access to song: not decided here → DJ'],
    [allow('song', BOB), [allow('song', DJ)], 'access to song: DJ → DJ, Bob'],
    [allow('song', NAMELESS), [allow('song', undefined)], 'access to song: everyone → nameless'],
    [allow('song', DJ), [allow('song', DJ)], 'access to song: DJ → DJ'],
    [forbid('song', undefined), [allow('song', DJ)], 'access to song: DJ → nobody'],
    [forbid('song', DJ), [allow('song', DJ), allow('song', VJ)], 'access to song: DJ, VJ → VJ, not DJ'],
    [forbid('song', BOB), [], 'access to song: not decided here → not decided here, not Bob'],
    [forbid('song', BOB), [allow('song', undefined)], 'access to song: everyone → everyone, not Bob'],
    [
      forbid('song', VJ),
      [forbid('song', BOB)],
      'access to song: not decided here, not Bob → not decided here, not Bob, VJ',
    ],
    [
      allow('song', BOB),
      [forbid('song', BOB)],
      'access to song: not decided here, not Bob → not decided here',
    ],
    [
      allow('song', BOB),
      [allow('song', undefined), forbid('song', BOB)],
      'access to song: everyone, not Bob → everyone',
    ],
    [
      allow('song', BOB),
      [forbid('song', undefined), forbid('song', BOB)],
      'access to song: nobody, not Bob → Bob',
    ],
    [allow('song', undefined), [forbid('song', BOB)], 'access to song: not decided here, not Bob → everyone'],
    [
      resetAccess('song'),
      [forbid('song', BOB)],
      'access to song: not decided here, not Bob → not decided here',
    ],
    [resetAccess('song'), [allow('ask', DJ), forbid('ask', BOB)], undefined],
    [addSubject('blocked', BOB), [], 'blocked people: without → with Bob'],
    [addSubject('blocked', BOB), [addSubject('blocked', BOB)], undefined],
    [addSubject('moderators', NAMELESS), [], 'moderators of this bot: without → with nameless'],
    [removeSubject('blocked', BOB), [addSubject('blocked', BOB)], 'blocked people: with Bob → without'],
    [removeSubject('blocked', BOB), [addSubject('moderators', BOB)], undefined],
    [removeSubject('blocked', BOB), [addSubject('blocked', { ...BOB, type: 'role' })], undefined],
    [setValue('visitors', true), [], 'visitors: not decided here → on'],
    [setValue('visitors', false), [setValue('visitors', true)], 'visitors: on → off'],
    [setValue('visitors', true), [setValue('visitors', false)], 'visitors: off → on'],
    [setValue('visitors', true), [setValue('visitors', true)], undefined],
  ])('%#', (edit, before, words) => expect(traceOf(edit, ...before)).toBe(words));

  it('a change leaves the rest of what was decided', () => {
    const others = [
      allow('ask', DJ),
      forbid('ask', BOB),
      addSubject('moderators', BOB),
      setValue('visitors', true),
    ];
    const before = decided('server', ...others);
    const after = decided('server', ...others, forbid('song', VJ), addSubject('blocked', VJ));
    expect(after).toEqual({ ...before, blocked: [VJ], barred: { ask: [BOB], song: [VJ] } });
    expect(decided('server', ...others, forbid('song', VJ), resetAccess('song'))).toEqual(before);
    expect(decided('server', forbid('song', VJ), forbid('song', BOB), allow('song', VJ)).barred).toEqual({
      song: [BOB],
    });
  });
});

it('a list of people has an end, and those on it may be named again', () => {
  const named = (count: number) =>
    Array.from({ length: count }, (_, n) => addSubject('blocked', { type: 'person', id: `${n}` }));
  expect(decided('server', ...named(MOST_SUBJECTS)).blocked).toHaveLength(MOST_SUBJECTS);
  expect(() => decided('server', ...named(MOST_SUBJECTS + 1))).toThrow(/That list is full: 100 .* A role/);
  expect(decided('server', ...named(MOST_SUBJECTS), ...named(1)).blocked).toHaveLength(MOST_SUBJECTS);
});
