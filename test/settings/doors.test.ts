import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Address, Invocation, Outcome, Person } from '../../src/command.ts';
import type { Subject } from '../../src/moderation.ts';
import type { Bot } from '../../src/platforms/platform.ts';
import { createBotOn } from '../bot-on-world.ts';
import { createWorld, songCallback, type World } from '../jobs/world.ts';
import { administer } from './administration.ts';
import { person } from './places.ts';

/**
 * Who may use what, at every door, on both platforms. Discord names a role; Slack, which has none, a person. What was
 * decided: /song is for DJs, /video is off in the server, /image is off in this channel, and one person is blocked.
 */
const PLATFORMS = ['discord', 'slack'] as const;

const ALLOWED = {
  anybody: { song: false, video: false, image: false, ask: true, models: false, minstrel: true },
  dj: { song: true, video: false, image: false, ask: true, models: false, minstrel: true },
  blocked: { song: false, video: false, image: false, ask: false, models: false, minstrel: true },
  appointed: { song: true, video: true, image: true, ask: true, models: true, minstrel: true },
  moderator: { song: true, video: true, image: true, ask: true, models: true, minstrel: true },
} as const;
type Who = keyof typeof ALLOWED;
type Named = keyof (typeof ALLOWED)['anybody'];

const WORK = {
  song: {
    route: 'music.generate',
    request: { customMode: false, instrumental: false, model: 'V5', prompt: 'x' },
  },
  video: { route: 'media.video', request: { model: 'reel-standard', prompt: 'x' } },
  image: { route: 'media.image', request: { model: 'canvas-plus', prompt: 'x' } },
  ask: { route: 'answer', dialect: 'chat', request: { model: 'chat-small', turns: [] } },
} as const;

const OPTIONS: Record<Named, Invocation['options']> = {
  song: { prompt: 'rain' },
  video: { prompt: 'waves', model: 'reel-standard' },
  image: { prompt: 'a fox', model: 'canvas-plus' },
  ask: { question: 'Why?' },
  models: {},
  minstrel: {},
};

const COMMANDS = Object.keys(OPTIONS) as Named[]; // the keys of an object literal
const PEOPLE = Object.keys(ALLOWED) as Who[]; // the keys of an object literal

let world: World;
let bot: Bot;
let events = 0;

function here(platform: string): Address {
  return { platform, guild: 'guild', channel: 'channel', person: 'somebody' };
}

function somebody(platform: string, who: Who): Person {
  const roles = who === 'dj' && platform === 'discord' ? ['dj-role'] : [];
  return person(who, { roles, moderator: who === 'moderator' });
}

function dj(platform: string): Subject {
  return platform === 'discord'
    ? { type: 'role', id: 'dj-role', name: 'DJ' }
    : { type: 'person', id: 'dj', name: 'Dj' };
}

beforeEach(async () => {
  world = await createWorld();
  const administered = administer(world);
  bot = createBotOn(world, { administered });
  for (const platform of PLATFORMS) {
    const mod = administered.moderation(here(platform), somebody(platform, 'moderator'));
    await mod.access.allow('song', dj(platform), 'server');
    await mod.access.forbid('video', undefined, 'server');
    await mod.access.forbid('image', undefined, 'channel');
    await mod.access.block({ type: 'person', id: 'blocked' });
    await mod.access.appoint({ type: 'person', id: 'appointed' });
  }
});
afterEach(() => world[Symbol.asyncDispose]());

function invocation(platform: string, who: Who, command: string, more: Partial<Invocation> = {}): Invocation {
  return {
    id: `event-${++events}`,
    command,
    options: {},
    address: here(platform),
    person: somebody(platform, who),
    ...more,
  };
}

const REFUSAL =
  /blocked you|switched \/\w+ off|is for DJ only|only for people whom moderators|Only moderators may use/;

function isRefused(outcome: Outcome): boolean {
  return (
    outcome.type === 'message' && outcome.visibility === 'person' && REFUSAL.test(outcome.message.text ?? '')
  );
}

describe.each(PLATFORMS)('on %s', (platform) => {
  describe.each(PEOPLE)('%s', (who) => {
    test.each(COMMANDS)(
      'and /%s: the command, talk, tools, its buttons and its completions',
      async (name) => {
        const allowed = ALLOWED[who][name];
        const asked = await bot.run(invocation(platform, who, name, { options: OPTIONS[name] }));
        expect(isRefused(asked), 'the command').toBe(!allowed);
        if (name === 'ask') {
          const conversation = [{ author: 'person' as const, text: 'Hello', files: [] }];
          const talk = invocation(platform, who, name, { options: OPTIONS[name], conversation });
          expect(isRefused(await bot.run(talk)), 'talk').toBe(!allowed);
        }
        if (name !== 'models' && name !== 'minstrel') {
          const outcome = await world.jobs.start(
            { work: WORK[name], title: 'x' },
            invocation(platform, 'moderator', name),
          );
          if (outcome.type !== 'accepted') throw new TypeError('not accepted');
          for (const action of ['again', 'cancel']) {
            const press = invocation(platform, who, name, {
              action: { name: action, job: outcome.job, index: 0 },
            });
            expect(isRefused(await bot.run(press)), action).toBe(!allowed);
          }
        }
        if (name !== 'song' && name !== 'minstrel') {
          const offered = await bot.suggest({
            command: name,
            ...(name === 'models' ? { subcommand: 'set' } : {}),
            option: 'model',
            typed: '',
            address: here(platform),
            person: somebody(platform, who),
          });
          expect(offered.length > 0, 'completions').toBe(allowed);
        }
      },
    );
  });

  test('a channel can open what the server closed, and close everything', async () => {
    const administered = administer(world);
    const mod = administered.moderation(here(platform), somebody(platform, 'moderator'));
    const run = async (name: Named) =>
      isRefused(await bot.run(invocation(platform, 'anybody', name, { options: OPTIONS[name] })));
    await mod.access.allow('video', undefined, 'channel');
    expect(await run('video')).toBe(false);
    await mod.access.forbid('all', undefined, 'channel');
    expect(await run('ask')).toBe(true);
    expect(await run('video')).toBe(false);
    expect(await run('minstrel')).toBe(false);
    await mod.access.reset('all', 'channel');
    expect(await run('ask')).toBe(false);
  });

  test('a thread obeys its channel', async () => {
    const thread = { ...here(platform), channel: 'thread', parent: 'channel' };
    const ask = invocation(platform, 'anybody', 'image', { options: OPTIONS.image, address: thread });
    expect(isRefused(await bot.run(ask))).toBe(true);
  });

  test('those who were named cannot name others, and nobody blocks themselves', async () => {
    const administered = administer(world);
    const who = { type: 'person', id: 'friend' } as const;
    const appointed = administered.moderation(here(platform), somebody(platform, 'appointed'));
    await expect(appointed.access.appoint(who)).rejects.toThrow('by its own rights');
    await expect(appointed.access.dismiss(who)).rejects.toThrow('by its own rights');
    await expect(appointed.access.block({ type: 'person', id: 'appointed' })).rejects.toThrow(
      'cannot block yourself',
    );
    const mod = administered.moderation(here(platform), somebody(platform, 'moderator'));
    expect(await mod.access.dismiss({ type: 'person', id: 'appointed' })).toBe(true);
    const set = invocation(platform, 'appointed', 'models');
    expect(isRefused(await bot.run(set))).toBe(true);
  });
});

test('a button of one command that starts another passes the other’s door, pressed or as its form', async () => {
  const song = await bot.run(invocation('discord', 'dj', 'song', { options: OPTIONS.song }));
  if (song.type !== 'accepted') throw new TypeError('not accepted');
  await world.look(song.job);
  await world.callback(song.job, songCallback('complete'));
  await world.look(song.job);
  const jobs = async () => (await Array.fromAsync(world.storage.jobs.all())).length;
  const split = (sent: boolean) =>
    bot.run(
      invocation('discord', 'dj', 'song', {
        action: { name: 'stems', job: song.job, index: 0, sent },
        options: sent ? { split: 'separate_vocal' } : {},
      }),
    );
  const mod = administer(world).moderation(here('discord'), somebody('discord', 'moderator'));
  await mod.access.forbid('stems', undefined, 'server');
  const before = await jobs();
  const refused = [await split(false), await split(true)];
  expect(refused.some(isRefused)).toBe(true);
  expect(await jobs()).toBe(before);
  await mod.access.reset('stems', 'server');
  await split(false);
  await split(true);
  expect(await jobs()).toBeGreaterThan(before);
});

describe('the servers that the operator serves', () => {
  const NOT_SERVED = 'Whoever runs this bot has not opened it to this place';
  const ask = async (served: readonly string[], address: Address, who: Who = 'moderator') => {
    const { admit } = administer({ ...world, served });
    return admit({ command: 'minstrel', address, person: somebody(address.platform, who) }).then(
      () => 'served',
      (error: Error) => error.message,
    );
  };

  test.each([
    ['all, when none is named', [], 'served'],
    ['by id', ['guild'], 'served'],
    ['by platform and id', ['discord:guild'], 'served'],
    ['of that platform only', ['slack:guild'], NOT_SERVED],
    ['no others, not even for moderators', ['another'], NOT_SERVED],
  ] as const)('%s', async (_name, served, expected) => {
    expect(await ask(served, here('discord'))).toContain(expected);
  });

  test('direct messages only where they are named, and a terminal always', async () => {
    const direct = { platform: 'discord', channel: 'dm', person: 'ada' };
    expect(await ask(['guild'], direct, 'anybody')).toContain(NOT_SERVED);
    expect(await ask(['guild', 'direct'], direct, 'anybody')).toBe('served');
    expect(await ask(['guild'], { platform: 'terminal', channel: 'terminal', person: 'you' })).toBe('served');
  });
});
