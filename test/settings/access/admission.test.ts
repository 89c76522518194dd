/** Access by rules, without storage or a bot. */
import { describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import type { Address, Person } from '../../../src/core/invocation.ts';
import { createAccess } from '../../../src/settings/access/admission.ts';
import type { Decisions } from '../../../src/settings/decisions.ts';
import { ADA, HERE, MOD, NOTHING_DECIDED, person } from '../samples.ts';
import { decided } from './rules.ts';

const DIRECT: Address = { platform: 'slack', channel: 'dm', person: 'ada', direct: true };

interface Place {
  readonly served?: readonly string[];
  readonly address?: Address;
}

function entering(
  command: string,
  who: Person,
  known: Decisions,
  { served = [], address = HERE }: Place = {},
) {
  const admit = createAccess({ decisions: { read: async () => NOTHING_DECIDED }, served, commands });
  return admit({ command, address, person: who }, known);
}

/** Resolves to `in`, or to the text of the refusal. */
async function enter(
  command: string,
  who: Person,
  rules: readonly string[] = [],
  place?: Place,
): Promise<string> {
  const known = decided(...rules);
  return await entering(command, who, known, place).then(
    ({ settings }) => (settings === known ? 'in' : 'in, by other settings'),
    (error: Error) => error.message,
  );
}

describe('a refusal says who has access', () => {
  it.each<[string, readonly string[], string]>([
    [
      'nobody',
      ['server: deny everyone song'],
      'Moderators have turned off /song here. If you need it, ask them.',
    ],
    [
      'a role',
      ['server: deny everyone song', 'server: allow @dj song'],
      'These roles can use /song here: DJ. To get access, ask a moderator.',
    ],
    [
      'two roles',
      [
        'server: deny everyone song',
        'server: allow @dj song',
        'channel: allow @vj song',
        'channel: allow @dj song',
      ],
      'These roles can use /song here: VJ, DJ.',
    ],
    [
      'a role and a person',
      ['server: deny everyone song', 'server: allow @dj song', 'server: allow bob song'],
      'These roles can use /song here: DJ. To get access, ask a moderator.',
    ],
    [
      'one person',
      ['server: deny everyone song', 'server: allow bob song', 'server: allow everyone ask'],
      'Only people chosen by moderators can use /song here. To get access, ask a moderator.',
    ],
    ['not this person', ['server: deny ada song'], "You can't use /song here"],
    ['not this role', ['server: deny @new song'], "The role NEW can't use /song here."],
  ])('%s', async (_who, rules, sentence) => {
    expect(await enter('song', person('ada', { roles: ['new'] }), rules)).toContain(sentence);
  });

  it('of a role without a name', async () => {
    const known = decided('server: deny everyone song');
    const who = { type: 'role', id: 'new' } as const;
    const withoutName = (type: 'allow' | 'deny') =>
      entering('song', person('ada', { roles: type === 'deny' ? ['new'] : [] }), {
        ...known,
        server: { ...known.server, rules: [...known.server.rules, { type, who, what: 'song' }] },
      });
    await expect(withoutName('deny')).rejects.toThrow("One of your roles can't use /song here");
    await expect(withoutName('allow')).rejects.toThrow('Only people chosen by moderators');
  });

  it('moderators, for their commands', async () => {
    expect(await enter('models', ADA)).toBe('Only moderators can use /models.');
    expect(await enter('models', ADA, ['server: allow everyone all'])).toContain('Only moderators');
    expect(await enter('models', MOD)).toBe('in');
    expect(await enter('models', ADA, ['server: allow ada moderation'])).toBe('in');
  });

  it('is permanent, unless the person’s rights are unknown', async () => {
    for (const text of ['deny everyone song', 'deny ada song', 'deny @new song']) {
      const known = decided(`server: ${text}`);
      const ada = person('ada', { roles: ['new'] });
      await expect(entering('song', ada, known)).rejects.toMatchObject({
        refusedUntil: Number.POSITIVE_INFINITY,
      });
      await expect(entering('song', { ...ada, rightsUnknown: true }, known)).rejects.toThrow(
        "couldn't check",
      );
    }
  });
});

it('people or roles that a rule makes moderators are admitted as moderators', async () => {
  const known = decided('server: allow @dj moderation', 'server: deny everyone all');
  const dj = { ...ADA, roles: ['dj'] };
  expect((await entering('song', dj, known)).person).toEqual({ ...dj, moderator: true });
  expect((await entering('minstrel', ADA, known)).person).toEqual(ADA);
});

describe('admits', () => {
  it.each<[string, string, Person, readonly string[]]>([
    ['everyone if there are no rules', 'song', ADA, []],
    ['a moderator despite any rule', 'song', MOD, ['server: deny everyone all', 'server: deny mod song']],
    ['a person with a rule', 'song', ADA, ['server: deny everyone song', 'channel: allow everyone song']],
    [
      'by a rule on one of the commands for songs',
      'stems',
      ADA,
      ['server: deny everyone song', 'server: allow everyone stems'],
    ],
    [
      'everybody to help, also those who are denied everything',
      'minstrel',
      ADA,
      ['server: deny everyone all', 'server: deny ada all'],
    ],
  ])('%s', async (_who, command, who, rules) => {
    expect(await enter(command, who, rules)).toBe('in');
  });

  it('nobody to song commands if songs are denied', async () => {
    for (const command of ['song', 'lyrics', 'remix', 'stems'])
      expect(await enter(command, ADA, ['server: deny everyone song'])).toContain(`turned off /${command}`);
    expect(await enter('image', ADA, ['server: deny everyone song'])).toBe('in');
  });
});

describe('people of another workspace', () => {
  const VISITOR = person('ada', { visitor: true });

  it('are refused until a rule admits them', async () => {
    expect(await enter('song', VISITOR)).toContain('You belong to another workspace');
    expect(await enter('song', VISITOR, ['server: deny ada all'])).toContain("You can't use /song here");
    expect(await enter('song', VISITOR, ['server: allow visitors all'])).toBe('in');
    expect(await enter('minstrel', VISITOR)).toBe('in');
    await expect(entering('song', VISITOR, decided())).rejects.toMatchObject({
      refusedUntil: Number.POSITIVE_INFINITY,
    });
  });

  it('have no special treatment in direct messages', async () => {
    expect(await enter('song', VISITOR, [], { address: DIRECT })).toBe('in');
  });

  it('may try again if their workspace is unknown', async () => {
    const unknown = { ...VISITOR, visitor: 'unknown' as const };
    expect(await enter('song', unknown)).toContain('check whether you belong');
    await expect(entering('song', unknown, decided())).rejects.toMatchObject({ refusedUntil: undefined });
    expect(await enter('song', unknown, ['server: allow visitors all'])).toBe('in');
  });
});

describe('the served servers', () => {
  const NOT_SERVED = "The bot's operator hasn't enabled me here. Ask them to.";
  const direct = { platform: 'discord', channel: 'dm', person: 'ada' };

  it.each<[string, readonly string[], Address, string]>([
    ['includes all if none is named', [], HERE, 'in'],
    ['by id', ['guild'], HERE, 'in'],
    ['can be named by platform and id', ['discord:guild'], HERE, 'in'],
    ['match only on that platform', ['slack:guild'], HERE, NOT_SERVED],
    ['exclude others, even for moderators', ['another', 'direct'], HERE, NOT_SERVED],
    ['include direct messages if named', ['guild', 'direct'], direct, 'in'],
    ['exclude direct messages otherwise', ['guild'], direct, NOT_SERVED],
    ['include the operator’s terminal', ['guild'], { ...direct, platform: 'terminal' }, 'in'],
    ['include the operator’s browser', ['guild'], { ...HERE, platform: 'web', guild: 'playground' }, 'in'],
  ])('%s', async (_name, served, address, expected) => {
    expect(await enter('models', MOD, [], { served, address })).toBe(expected);
  });
});
