/** The precedence of rules, without storage or a bot. */
import { describe, expect, it } from 'vitest';
import { decideAccess, type Who } from '../../../src/settings/access/precedence.ts';
import { ADA, person } from '../samples.ts';
import { decided } from './rules.ts';

const SONG = ['song', 'all'];
const LYRICS = ['lyrics', 'song', 'all'];
const DJ = person('ada', { roles: ['dj'] });

const may = (things: readonly string[], who: Who, ...rules: readonly string[]) =>
  decideAccess(things, who, decided(...rules)).allowed;

describe('without a rule', () => {
  it('everyone may use commands, and nobody moderates', () => {
    expect(may(SONG, ADA)).toBe(true);
    expect(decideAccess(SONG, ADA, decided())).toEqual({ allowed: true });
    expect(may(['moderation'], ADA)).toBe(false);
  });

  it('rules about other people and commands have no effect', () => {
    expect(
      may(SONG, ADA, 'server: deny bob song', 'server: deny @dj song', 'server: deny everyone ask'),
    ).toBe(true);
    expect(may(SONG, person('dj'), 'server: deny @dj song')).toBe(true);
    expect(may(SONG, person('x', { roles: ['ada'] }), 'server: deny ada song')).toBe(true);
  });
});

describe('in one place', () => {
  it.each<[string, readonly string[], Who, readonly string[], boolean]>([
    ['everyone', SONG, ADA, ['server: deny everyone song'], false],
    ['a role over everyone', SONG, DJ, ['server: deny everyone song', 'server: allow @dj song'], true],
    [
      'a role over everyone, and back',
      SONG,
      DJ,
      ['server: deny @dj song', 'server: allow everyone song'],
      false,
    ],
    ['a person over their role', SONG, DJ, ['server: deny @dj song', 'server: allow ada song'], true],
    [
      'a person over a role for one thing',
      SONG,
      DJ,
      ['server: allow @dj song', 'server: deny ada all'],
      false,
    ],
    ['a command over all', SONG, ADA, ['server: deny everyone all', 'server: allow everyone song'], true],
    [
      'a command over its family',
      LYRICS,
      ADA,
      ['server: deny everyone song', 'server: allow everyone lyrics'],
      true,
    ],
    ['a family includes its commands', LYRICS, ADA, ['server: deny everyone song'], false],
    ['a command does not include its family', SONG, ADA, ['server: deny everyone lyrics'], true],
    ['all does not include moderation', ['moderation'], ADA, ['server: allow everyone all'], false],
    ['moderation', ['moderation'], DJ, ['server: allow @dj moderation'], true],
    [
      'moderation, but for one',
      ['moderation'],
      DJ,
      ['server: allow @dj moderation', 'server: deny ada moderation'],
      false,
    ],
  ])('%s', (_name, things, who, rules, allowed) => {
    expect(may(things, who, ...rules)).toBe(allowed);
    expect(may(things, who, ...rules.toReversed())).toBe(allowed);
    const inChannel = rules.map((text) => text.replace('server', 'channel'));
    expect(may(things, who, ...inChannel)).toBe(allowed);
  });

  it('one denied role is enough, and each role counts by its most specific rule', () => {
    const both = person('ada', { roles: ['dj', 'new'] });
    const rules = ['server: allow @dj song', 'server: deny @new all'];
    expect(may(SONG, both, ...rules)).toBe(false);
    expect(may(SONG, both, ...rules.toReversed())).toBe(false);
    expect(may(SONG, both, ...rules, 'server: allow @new song')).toBe(true);
  });
});

describe('of two places', () => {
  it.each<[string, Who, readonly string[], boolean]>([
    [
      'the channel opens what the server closes',
      ADA,
      ['server: deny everyone song', 'channel: allow everyone all'],
      true,
    ],
    [
      'the channel closes what the server opens',
      ADA,
      ['server: allow everyone song', 'channel: deny everyone all'],
      false,
    ],
    [
      'the channel closes to those, too, whom the server names',
      DJ,
      ['server: allow @dj song', 'channel: deny everyone song'],
      false,
    ],
    [
      'the channel does not let in whom the server denies by name',
      ADA,
      ['server: deny ada all', 'channel: allow everyone song'],
      false,
    ],
    ['even for a role', DJ, ['server: deny @dj all', 'channel: allow everyone song'], false],
    [
      'even for a person with an allowed role',
      DJ,
      ['server: deny ada all', 'channel: allow @dj song'],
      false,
    ],
    ['unless the channel names the person', ADA, ['server: deny ada all', 'channel: allow ada song'], true],
    [
      'or one of their roles, where a role was denied',
      DJ,
      ['server: deny @dj all', 'channel: allow @dj song'],
      true,
    ],
    [
      'or names the person if their role is denied',
      DJ,
      ['server: deny @dj all', 'channel: allow ada song'],
      true,
    ],
  ])('%s', (_name, who, rules, allowed) => expect(may(SONG, who, ...rules)).toBe(allowed));

  it('returns the deciding rule and its place', () => {
    const rules = decided('server: deny ada all', 'channel: allow everyone song');
    expect(decideAccess(SONG, ADA, rules).by).toEqual({ rule: rules.server.rules[0], from: 'server' });
    expect(decideAccess(SONG, person('bob'), rules).by).toEqual({
      rule: rules.channel.rules[0],
      from: 'channel',
    });
  });
});

describe('people from other workspaces', () => {
  const VISITOR = person('ada', { visitor: true });
  it.each<[string, readonly string[], boolean]>([
    [
      'are let in by no rule for everyone',
      ['server: allow everyone all', 'channel: allow everyone all'],
      false,
    ],
    ['are admitted by a rule for visitors', ['server: allow visitors all'], true],
    ['are admitted only to the command of the rule', ['server: allow visitors ask'], false],
    ['are admitted by name', ['server: allow ada song'], true],
    ['are not admitted by another name', ['server: allow bob song'], false],
    [
      'not in a channel that denies them',
      ['server: allow visitors all', 'channel: deny visitors all'],
      false,
    ],
    [
      'are admitted in a channel that allows them',
      ['server: deny visitors all', 'channel: allow visitors all'],
      true,
    ],
    [
      'are not admitted to a command denied to everyone',
      ['server: allow visitors all', 'server: deny everyone song'],
      false,
    ],
    ['are not admitted if denied by name', ['server: allow visitors all', 'server: deny ada all'], false],
  ])('%s', (_name, rules, allowed) => {
    for (const visitor of [true, 'unknown'] as const)
      expect(may(SONG, { ...VISITOR, visitor }, ...rules)).toBe(allowed);
  });

  it('are distinguished from others, whom their rules do not affect', () => {
    expect(decideAccess(SONG, VISITOR, decided())).toMatchObject({
      allowed: false,
      by: { rule: { who: { id: 'visitors' } }, from: 'default' },
    });
    expect(decideAccess(SONG, VISITOR, decided('server: deny visitors all'))).toMatchObject({
      by: { from: 'server' },
    });
    expect(decideAccess(SONG, VISITOR, decided('server: allow visitors all'))).toMatchObject({
      allowed: true,
      by: { from: 'server' },
    });
    expect(decideAccess(['moderation'], VISITOR, decided('server: allow visitors moderation'))).toMatchObject(
      {
        allowed: false,
        by: { from: 'default' },
      },
    );
    for (const visitor of [false, undefined])
      expect(
        may(SONG, { ...ADA, ...(visitor !== undefined && { visitor }) }, 'server: deny visitors all'),
      ).toBe(true);
  });
});
