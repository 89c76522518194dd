import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Address, Invocation, Person } from '../../../src/core/invocation.ts';
import type { Rule, Where } from '../../../src/core/moderation.ts';
import { createBotOn } from '../../core/bot-on-world.ts';
import { createWorld, songCallback, type World } from '../../jobs/world.ts';
import { administer } from '../administration.ts';
import { NOTHING_DECIDED, person } from '../samples.ts';
import { rule, subject } from './rules.ts';

/**
 * Access on both platforms by commands, buttons, forms, completions and talk. Rules name a role on Discord and a person on Slack.
 * /song is for DJs, /video is denied in the server, /image in this channel, and everything for one person.
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

const VOICE = { personaId: 'p', name: 'Ada', savedBy: { id: 'ada', displayName: 'Ada' }, savedAt: 1 };

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

const dj = (platform: string) => (platform === 'discord' ? '@dj-role' : 'dj');

const decide = (platform: string, text: string, where: Where = 'server') =>
  administer(world).moderation(here(platform), somebody(platform, 'moderator')).rules.set(rule(text), where);

const undo = (platform: string, text: string, where: Where = 'server') => {
  const [who = '', what = ''] = text.split(' ');
  return administer(world)
    .moderation(here(platform), somebody(platform, 'moderator'))
    .rules.reset({ who: subject(who), what }, where);
};

beforeEach(async () => {
  world = await createWorld();
  const administered = administer(world);
  bot = createBotOn(world, { administered });
  for (const platform of PLATFORMS) {
    await decide(platform, 'deny everyone song');
    await decide(platform, `allow ${dj(platform)} song`);
    await decide(platform, 'deny everyone video');
    await decide(platform, 'deny everyone image', 'channel');
    await decide(platform, 'deny blocked all');
    await decide(platform, 'allow appointed moderation');
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
  /can't use \/\w+ here|turned off \/\w+|here: DJ-ROLE|Only people chosen by moderators|Only moderators can use/;

function isRefused(outcome: Outcome): boolean {
  return (
    outcome.type === 'message' &&
    outcome.visibility === 'person' &&
    REFUSAL.test(outcome.message.text ?? '') &&
    outcome.refusedUntil === Number.POSITIVE_INFINITY
  );
}

describe.each(PLATFORMS)('on %s', (platform) => {
  describe.each(PEOPLE)('%s', (who) => {
    test.each(COMMANDS)(
      'and /%s: the command, talk, tools, its buttons and its completions',
      async (name) => {
        const allowed = ALLOWED[who][name];
        const outcome = await bot.run(invocation(platform, who, name, { options: OPTIONS[name] }));
        expect(isRefused(outcome), 'the command').toBe(!allowed);
        if (name === 'ask') {
          const conversation = [{ author: 'person' as const, text: 'Hello', files: [] }];
          const talk = invocation(platform, who, name, { options: OPTIONS[name], conversation });
          expect(isRefused(await bot.run(talk)), 'talk').toBe(!allowed);
        }
        if (name !== 'models' && name !== 'minstrel') {
          const outcome = await world.jobs.start(
            { work: WORK[name], title: 'x' },
            invocation(platform, 'moderator', name),
            NOTHING_DECIDED,
          );
          if (outcome.type !== 'accepted') throw new TypeError('not accepted');
          for (const action of ['again', 'cancel']) {
            const press = invocation(platform, who, name, {
              action: { name: action, job: outcome.job, index: 0 },
            });
            // People may always cancel their own jobs.
            expect(isRefused(await bot.run(press)), action).toBe(!allowed && action !== 'cancel');
          }
        }
        if (name !== 'song' && name !== 'minstrel') {
          const offered = await bot.suggest({
            command: name,
            ...(name === 'models' ? { subcommand: 'set' } : {}),
            option: 'model',
            typed: '',
            options: {},
            address: here(platform),
            person: somebody(platform, who),
          });
          expect(offered.length > 0, 'completions').toBe(allowed);
        }
      },
    );
  });

  test('a channel can allow a command that the server denies, and deny everything', async () => {
    const run = async (name: Named) =>
      isRefused(await bot.run(invocation(platform, 'anybody', name, { options: OPTIONS[name] })));
    await decide(platform, 'allow everyone video', 'channel');
    expect(await run('video')).toBe(false);
    await decide(platform, 'deny everyone all', 'channel');
    expect(await run('ask')).toBe(true);
    expect(await run('video')).toBe(false);
    expect(await run('minstrel')).toBe(false);
    await undo(platform, 'everyone all', 'channel');
    expect(await run('ask')).toBe(false);
  });

  test('a person can be denied a command even if a channel allows everyone', async () => {
    const ask = async (who: Who = 'anybody') =>
      isRefused(await bot.run(invocation(platform, who, 'ask', { options: OPTIONS.ask })));
    await decide(platform, 'deny anybody ask');
    await decide(platform, 'allow everyone ask', 'channel');
    expect([await ask(), await ask('dj')]).toEqual([true, false]);
    await undo(platform, 'anybody ask');
    expect([await ask(), await ask('dj')]).toEqual([false, false]);
  });

  test('rules for everyone do not apply to moderators', async () => {
    const ask = async (who: Who) =>
      isRefused(await bot.run(invocation(platform, who, 'ask', { options: OPTIONS.ask })));
    const deny = { what: 'all', who: '@everyone', where: 'server' };
    await bot.run(invocation(platform, 'moderator', 'limits', { subcommand: 'deny', options: deny }));
    expect([await ask('anybody'), await ask('moderator')]).toEqual([true, false]);
    await bot.run(invocation(platform, 'moderator', 'limits', { subcommand: 'reset', options: deny }));
    expect(await ask('anybody')).toBe(false);
  });

  test('denied people can cancel their own jobs from anywhere, and see them with /jobs all', async () => {
    const started = await world.jobs.start(
      { work: WORK.song, title: 'Composing “x”' },
      invocation(platform, 'blocked', 'song'),
      NOTHING_DECIDED,
    );
    if (started.type !== 'accepted') throw new TypeError('not accepted');
    const elsewhere = { ...here(platform), channel: 'another', person: 'blocked' };
    const jobs = (options: Invocation['options']) =>
      bot.run(invocation(platform, 'blocked', 'jobs', { address: elsewhere, options }));
    expect(await jobs({})).toMatchObject({ message: { text: 'You have no running jobs here.' } });
    expect(await jobs({ all: true })).toMatchObject({ message: { actions: [{ label: 'Cancel' }] } });
    const action = { name: 'cancel', job: started.job, index: 0 };
    const press = invocation(platform, 'blocked', 'song', { address: elsewhere, action });
    expect(await bot.run(press)).toMatchObject({ message: { text: 'Cancelling.' } });
  });

  test('buttons work only in the channel of their result, or for its person in direct messages', async () => {
    const started = await world.jobs.start(
      { work: WORK.ask, title: 'x' },
      invocation(platform, 'anybody', 'ask'),
      NOTHING_DECIDED,
    );
    if (started.type !== 'accepted') throw new TypeError('not accepted');
    const again = async (who: Who, address: Address) => {
      const action = { name: 'again', job: started.job, index: 0 };
      const outcome = await bot.run(invocation(platform, who, 'ask', { address, action }));
      return outcome.type === 'message' ? outcome.message.text : outcome.type;
    };
    const thread = { ...here(platform), channel: 'thread', parent: 'channel' };
    expect(await again('dj', thread)).toBe('accepted');
    expect(await again('dj', { ...here(platform), channel: 'another' })).toContain(
      'only works in the channel',
    );
    expect(await again('moderator', { ...here(platform), channel: 'another' })).toContain(
      'only works in the channel',
    );
    const direct = { ...here(platform), channel: 'direct', direct: true };
    expect(await again('dj', direct)).toContain('only works in the channel');
    expect(await again('anybody', direct)).toBe('accepted');
    expect(await again('dj', { ...here(platform), guild: 'other' })).toMatch(
      /only works in the (server|workspace)/,
    );
  });

  test('settings of a server do not apply in direct messages', async () => {
    const direct = { ...here(platform), channel: 'direct', direct: true };
    const mod = administer(world).moderation(here(platform), somebody(platform, 'moderator'));
    await mod.models.choose('song', 'V4', 'server');
    await mod.rules.set(rule('limit everyone all 0'), 'server');
    const run = (who: Who, address: Address, options = OPTIONS.image) =>
      bot.run(invocation(platform, who, 'image', { options, address }));
    expect(await run('blocked', direct)).toMatchObject({ type: 'accepted' });
    const ours = administer(world).moderation(direct, somebody(platform, 'moderator'));
    expect((await ours.inForce.models()).find(({ family }) => family === 'song')).toMatchObject({
      model: 'V5',
    });
    // Settings of one conversation do not apply in others.
    await ours.rules.set(rule('deny everyone image'), 'server');
    expect(isRefused(await run('anybody', direct))).toBe(true);
    expect(isRefused(await run('anybody', { ...direct, channel: 'direct of another' }))).toBe(false);
    await world.voices.save(direct, VOICE);
    expect(await world.voices.list(here(platform))).toEqual([]);
    expect(await world.voices.list(direct)).toHaveLength(1);
  });

  test('a former admin is not a moderator, but their settings stay', async () => {
    const admin = person('former', { moderator: true });
    const run = (who: Person) =>
      bot.run(invocation(platform, 'anybody', 'models', { person: who, options: {} }));
    expect(isRefused(await run(admin))).toBe(false);
    const mod = administer(world).moderation(here(platform), admin);
    await mod.rules.set(rule('deny everyone ask'), 'server');
    expect(isRefused(await run({ ...admin, moderator: false }))).toBe(true);
    const ask = { person: { ...admin, moderator: false }, options: OPTIONS.ask };
    expect(isRefused(await bot.run(invocation(platform, 'anybody', 'ask', ask)))).toBe(true);
  });

  test('a thread uses the rules of its channel', async () => {
    const thread = { ...here(platform), channel: 'thread', parent: 'channel' };
    const ask = invocation(platform, 'anybody', 'image', { options: OPTIONS.image, address: thread });
    expect(isRefused(await bot.run(ask))).toBe(true);
  });

  test('moderators appointed by a rule cannot appoint others', async () => {
    const administered = administer(world);
    const appointed = administered.moderation(here(platform), somebody(platform, 'appointed')).rules;
    const friend: Rule = rule('allow friend moderation');
    await expect(appointed.set(friend, 'server')).rejects.toThrow('Only people who can manage');
    await expect(appointed.reset(friend, 'server')).rejects.toThrow('Only people who can manage');
    const { rules } = administered.moderation(here(platform), somebody(platform, 'moderator'));
    await expect(rules.set(friend, 'channel')).rejects.toThrow(/for the whole (server|workspace)/);
    await undo(platform, 'appointed moderation');
    const set = invocation(platform, 'appointed', 'models');
    expect(isRefused(await bot.run(set))).toBe(true);
  });
});

test('a button or form that starts another command requires access to it', async () => {
  const song = await bot.run(invocation('discord', 'dj', 'song', { options: OPTIONS.song }));
  if (song.type !== 'accepted') throw new TypeError('not accepted');
  await world.advance(song.job);
  await world.callback(song.job, songCallback('complete'));
  await world.advance(song.job);
  const jobs = async () => (await Array.fromAsync(world.storage.jobs.all())).length;
  const split = (isForm: boolean) =>
    bot.run(
      invocation('discord', 'dj', 'song', {
        action: { name: 'stems', job: song.job, index: 0 },
        isForm,
        options: isForm ? { split: 'separate_vocal' } : {},
      }),
    );
  await decide('discord', 'deny @dj-role stems');
  const before = await jobs();
  const refused = [await split(false), await split(true)];
  expect(refused.some(isRefused)).toBe(true);
  expect(await jobs()).toBe(before);
  await undo('discord', '@dj-role stems');
  await split(false);
  await split(true);
  expect(await jobs()).toBeGreaterThan(before);
});

test('a person with unknown rights gets a specific error, not that they are not a moderator', async () => {
  for (const name of ['models', 'song', 'minstrel'] as const) {
    const unknown = { ...somebody('slack', 'anybody'), rightsUnknown: true };
    const outcome = await bot.run(
      invocation('slack', 'anybody', name, { person: unknown, options: OPTIONS[name] }),
    );
    if (outcome.type !== 'message') throw new TypeError('no message');
    if (name === 'minstrel') expect(isRefused(outcome)).toBe(false);
    else expect(outcome.message.text).toContain("couldn't check whether you're a moderator");
  }
});

test('a person whose workspace is unknown is treated as a visitor', async () => {
  const unknown = { ...somebody('slack', 'anybody'), rightsUnknown: true, visitor: 'unknown' as const };
  const ask = () => bot.run(invocation('slack', 'anybody', 'ask', { person: unknown, options: OPTIONS.ask }));
  expect(await ask()).toMatchObject({
    message: {
      text: expect.stringContaining('check whether you belong to this workspace'),
    },
  });
  await decide('slack', 'allow visitors all');
  expect(await ask()).toMatchObject({ type: 'accepted' });
});
