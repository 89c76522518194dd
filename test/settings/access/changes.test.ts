import { describe, expect, it } from 'vitest';
import { resetRules, setPause, setRule } from '../../../src/settings/access/changes.ts';
import { limitOf } from '../../../src/settings/access/precedence.ts';
import { MOST_RULES, readSettings, type StoredSettings } from '../../../src/settings/decisions.ts';
import { describeLimit, ruleText } from '../../../src/settings/words.ts';
import { rule, subject } from './rules.ts';

const PLACE = { from: 'server', at: { platform: 'discord' } } as const;
const EMPTY = readSettings('server', undefined);

const settingsWith = (...texts: readonly string[]): StoredSettings => ({ ...EMPTY, rules: texts.map(rule) });
const set = (text: string, ...before: readonly string[]) =>
  setRule(rule(text), PLACE)(settingsWith(...before));

describe('setting a rule', () => {
  it('adds it and changes nothing else', () => {
    const before = { ...settingsWith('deny bob ask'), footer: false };
    expect(setRule(rule('allow @dj song'), PLACE)(before)).toEqual({
      settings: { ...before, rules: [rule('deny bob ask'), rule('allow @dj song')] },
      trace: {
        what: 'access to /song and the other song commands',
        from: 'no rule',
        to: 'DJ can use /song and the other song commands',
      },
    });
  });

  it.each([
    ['deny @dj song', 'allow @dj song'],
    ['limit everyone song 1 day', 'limit everyone song 5 day'],
    ['unlimited @dj all', 'limit @dj all 5 day'],
    ['unlimited @dj all', 'unlimited @dj all'],
    ['limit @dj all 5 day', 'unlimited @dj all'],
  ])('%s replaces %s', (text, replaced) => {
    expect(set(text, replaced)?.settings.rules).toEqual([rule(text)]);
    expect(set(text, replaced)?.trace?.from).toBe(
      ruleText({ rule: rule(replaced), from: 'server' }, PLACE.at),
    );
  });

  it.each([
    ['deny @dj song', 'allow dj song'],
    ['deny @dj song', 'allow @vj song'],
    ['deny @dj song', 'allow @dj all'],
    ['deny @dj song', 'limit @dj song 5 day'],
    ['deny @dj song', 'unlimited @dj song'],
    ['unlimited @dj song', 'allow @dj song'],
    ['limit @dj song 5 day', 'deny @dj song'],
    ['limit everyone song 1 day', 'limit everyone song 5 hour'],
    ['limit everyone song 1 day', 'limit everyone ask 5 day'],
    ['limit everyone song 1 day', 'limit ada song 5 day'],
    ['limit everyone song 1 day', 'limit everyone song 5 day together'],
  ])('%s and %s apply together', (text, other) => {
    expect(set(text, other)?.settings.rules).toEqual([rule(other), rule(text)]);
  });

  it('limits of units and requests apply together', () => {
    const units = { ...rule('limit everyone song 1 day'), of: 'units' } as ReturnType<typeof rule>;
    expect(setRule(units, PLACE)(settingsWith('limit everyone song 1 day'))?.settings.rules).toHaveLength(2);
  });

  it('is refused past a maximum, but existing rules can be changed', () => {
    const many = Array.from({ length: MOST_RULES }, (_, n) => `deny person${n} song`);
    expect(() => set('deny ada song', ...many)).toThrow(`There are already ${MOST_RULES} rules`);
    expect(set('allow person7 song', ...many)?.settings.rules).toHaveLength(MOST_RULES);
    expect(set('deny ada song', ...many.slice(1))?.settings.rules).toHaveLength(MOST_RULES);
  });
});

describe('removing rules', () => {
  const name = { who: subject('@dj'), what: 'song' };

  it('removes all of that name, and returns them', () => {
    const otherRules = ['allow @dj all', 'allow dj song'];
    const before = settingsWith('deny @dj song', ...otherRules, 'limit @dj song 5 day');
    expect(resetRules(name, PLACE)(before)).toEqual({
      settings: settingsWith(...otherRules),
      trace: {
        what: 'access to /song and the other song commands',
        from: "DJ can't use /song and the other song commands; 5 songs per day for each person with the role DJ",
        to: 'no rule',
      },
    });
  });

  it('changes nothing if there are no rules', () => {
    expect(resetRules(name, PLACE)(settingsWith('deny @dj all'))).toBeUndefined();
  });
});

it('a pause is logged, and a repeated one changes nothing', () => {
  const paused = setPause(true)(EMPTY);
  expect(paused).toEqual({
    settings: { ...EMPTY, paused: true },
    trace: { what: 'paused', from: 'no', to: 'yes' },
  });
  const settings = paused?.settings ?? EMPTY;
  expect(setPause(false)(settings)?.trace).toEqual({ what: 'paused', from: 'yes', to: 'no' });
  expect([setPause(true)(settings), setPause(false)(EMPTY)]).toEqual([undefined, undefined]);
});

describe('in words', () => {
  it.each([
    ['deny bob image', "Bob can't use /image"],
    ['allow @dj all', 'DJ can use all commands for members'],
    ['deny everyone image', "members can't use /image"],
    ['allow everyone image', 'everyone can use /image'],
    ['allow visitors ask', 'people from other workspaces can use /ask'],
    ['allow @dj moderation', 'DJ can use the moderator commands'],
    ['unlimited @dj all', 'no limit for DJ'],
    ['unlimited moderators song', 'no limit on songs for moderators'],
    ['limit everyone all 3', '3 jobs per person per day'],
    ['limit everyone song 1', '1 song per person per day'],
    ['limit everyone song 2 hour together', '2 songs per hour in this server, shared by everyone'],
    ['limit @dj all 3', '3 jobs per day for each person with the role DJ'],
    ['limit moderators all 3', '3 jobs per day for each moderator'],
    ['limit visitors all 3', '3 jobs per day for each person from another workspace'],
    ['limit ada party 3', '3 songs in voice channels per day for Ada'],
  ])('%s: %s', (text, words) => expect(ruleText({ rule: rule(text), from: 'server' }, PLACE.at)).toBe(words));

  it('uses the id if there is no name', () => {
    const who = { type: 'role', id: '7' } as const;
    const texts = [rule('deny @dj ask'), rule('limit @dj all 3')].map((known) =>
      ruleText({ rule: { ...known, who }, from: 'server' }, PLACE.at),
    );
    expect(texts).toEqual(["the role 7 can't use /ask", '3 jobs per day for each person with the role 7']);
  });

  it('names the channel, units, workspace or operator of a limit', () => {
    const inChannel = (text: string) => ruleText({ rule: rule(text), from: 'channel' }, PLACE.at);
    expect(inChannel('limit everyone all 3')).toBe('3 jobs per person per day in this channel');
    expect(inChannel('limit ada all 3')).toBe('3 jobs per day for Ada in this channel');
    expect(inChannel('limit everyone all 3 day together')).toBe(
      '3 jobs per day in this channel, shared by everyone',
    );
    const shared = { scope: 'server', per: 'day', of: 'units', most: 1_000 } as const;
    expect(describeLimit(shared, { platform: 'slack' })).toBe(
      '1,000 units per day in this workspace, shared by everyone',
    );
    expect(describeLimit({ ...shared, scope: 'deployment', most: 1, family: 'song' }, PLACE.at)).toBe(
      '1 unit for songs per day, shared by everyone who uses this bot',
    );
  });

  it('a limit counts according to its rule', () => {
    const limit = (text: string, from: 'channel' | 'server') => {
      const known = rule(text);
      if (known.type !== 'limit') throw new TypeError(text);
      return limitOf(known, from);
    };
    const plain = { per: 'day', of: 'requests', most: 3 };
    expect(limit('limit everyone all 3', 'server')).toEqual({ scope: 'personInServer', ...plain });
    expect(limit('limit everyone all 3', 'channel')).toEqual({ scope: 'personInChannel', ...plain });
    expect(limit('limit everyone song 3 day together', 'channel')).toEqual({
      scope: 'channel',
      family: 'song',
      ...plain,
    });
    expect(limit('limit everyone all 3 day together', 'server')).toEqual({ scope: 'server', ...plain });
    expect(limit('limit @dj all 3', 'server')).toEqual({
      scope: 'personInServer',
      who: subject('@dj'),
      ...plain,
    });
  });
});
