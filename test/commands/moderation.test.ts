import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import { createBotOn } from '../core/bot-on-world.ts';
import { createWorld, SONG, songCallback, type World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';
import { ADA, HERE, MOD } from '../settings/samples.ts';

let world: World;
let administered: Administered;
let bot: Bot;
let events = 0;

beforeEach(async () => {
  world = await createWorld();
  administered = administer({ ...world, costs: { song: 10 } });
  administered.list.offer(['Chat Small=chat-small', 'chat-large', 'canvas-plus']);
  bot = createBotOn(world, { administered });
});
afterEach(() => world[Symbol.asyncDispose]());

function run(
  command: string,
  subcommand: string | undefined,
  options: Invocation['options'] = {},
  more: Partial<Invocation> = {},
): Promise<Outcome> {
  return bot.run({
    id: `event-${++events}`,
    command,
    ...(subcommand === undefined ? {} : { subcommand }),
    options,
    address: HERE,
    person: MOD,
    ...more,
  });
}

function privately(outcome: Outcome): Message {
  if (outcome.type !== 'message' || outcome.visibility !== 'person')
    throw new Error(`Not private: ${JSON.stringify(outcome)}`);
  return outcome.message;
}

const says = async (...asked: Parameters<typeof run>): Promise<string> => {
  const { title = '', text = '', footer = '' } = privately(await run(...asked));
  // What was escaped against Markdown reads as people see it.
  return [title, text, footer].join('\n').replaceAll('\\', '');
};

describe('/models', () => {
  test('set says the id of a display name, and show says why it holds', async () => {
    expect(await says('models', 'set', { family: 'ask', model: 'chat small' })).toContain(
      'Answers in this channel now use **chat-small**. “chat small” has the ID **chat-small**.',
    );
    const shown = await says('models', 'show');
    expect(shown).toContain('**Answers**: chat-small, set for this channel by Mod');
    expect(shown).toContain("**Songs**: V5, the operator's default");
    expect(shown).toContain('**Videos**: not set');
    expect(await says('models', undefined)).toBe(shown);
  });

  test('set for the server says where a channel’s own choice still wins, by its name', async () => {
    const general = { address: { ...HERE, channelName: 'general' } };
    await run('models', 'set', { family: 'ask', model: 'chat-large' }, general);
    const named = { address: { ...HERE, channel: 'unnamed' } };
    await run('models', 'set', { family: 'ask', model: 'canvas-plus' }, named);
    expect(await says('models', 'set', { family: 'ask', model: 'chat-small', where: 'server' })).toContain(
      'These channels keep their own settings: #general (chat-large), channel unnamed (canvas-plus).',
    );
    expect(await says('minstrel', 'audit')).toContain(
      'Mod, #general, model for ask: not chosen here → chat-large',
    );
  });

  test('set refuses what the account may not use, and names the option', async () => {
    const outcome = await run('models', 'set', { family: 'ask', model: 'chat-smal' });
    expect(privately(outcome).text).toContain('Did you mean “chat-small” or “chat-large”?');
    expect(outcome).toMatchObject({ option: 'model' });
  });

  test('reset tells what holds now', async () => {
    await run('models', 'set', { family: 'song', model: 'V4', where: 'server' });
    expect(await says('models', 'reset', { what: 'song' })).toBe(
      '\nNothing was set for song in this channel.\n',
    );
    expect(await says('models', 'reset', { what: 'song', where: 'server' })).toContain(
      'Reset.\n\n**Songs**: V5',
    );
  });

  test('set asks the gateway again before it refuses a name', async () => {
    administered.list.refresh = async () => {
      administered.list.offer(['chat-brand-new']);
    };
    expect(await says('models', 'set', { family: 'ask', model: 'chat-brand-new' })).toContain('now use');
  });

  test('answers sets the prompt, the assistant and the footer, and reset takes each back', async () => {
    const answer = await says('models', 'answers', {
      prompt: 'Be brief.\nRhyme.',
      assistant: true,
      footer: false,
      where: 'server',
    });
    expect(answer).toContain('Rhyme. (set for this server)');
    expect(answer).toContain('**Assistant**: on, set for this server');
    expect(answer).toContain('**Footer**: off, set for this server');
    expect(await says('models', 'reset', { what: 'footer', where: 'server' })).toContain(
      "**Footer**: on, the operator's default",
    );
    await run('models', 'reset', { what: 'prompt', where: 'server' });
    expect(await says('models', 'show')).toContain('**System prompt**: none');
    expect(await says('models', 'reset', { what: 'prompt' })).toContain(
      'Nothing was set for prompt in this channel.',
    );
  });

  test('answers opens a form with what is decided here, and changes what was changed in it alone', async () => {
    await run('models', 'answers', { assistant: true, where: 'server' });
    await run('models', 'answers', { footer: false, prompt: 'Rhyme.' });
    const opened = await run('models', 'answers');
    if (opened.type !== 'form') throw new Error('No form was opened');
    expect(opened.form).toMatchObject({
      id: 'models answers',
      initial: { prompt: 'Rhyme.', footer: 'off', where: 'channel' },
    });
    expect(Object.keys(opened.form.initial)).toEqual(['prompt', 'footer', 'where']);
    await run('models', 'answers', opened.form.initial);
    const shown = await says('models', 'show');
    expect(shown).toContain('**Assistant**: on, set for this server');
    expect(shown).toContain('**Footer**: off, set for this channel');
  });

  test('talk is chosen for this channel, shown, and taken back', async () => {
    expect(await says('models', 'answers', { talk: true })).toContain(
      '**Talk**: on (answers every message in this channel). Each answer starts',
    );
    expect(await run('models', 'answers')).toMatchObject({ form: { initial: { talk: 'on' } } });
    expect(await run('models', 'answers', { talk: false, where: 'server' })).toMatchObject({
      option: 'talk',
    });
    expect(await says('models', 'reset', { what: 'talk' })).toContain('**Talk**: off');
    const direct = { address: { ...HERE, direct: true } };
    expect(await run('models', 'answers', { talk: true }, direct)).toMatchObject({ option: 'talk' });
  });

  test('a model that is gone is told in show', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    administered.list.offer(['chat-small']);
    expect(await says('models', 'show')).toContain(
      '⚠️ chat-large, set for this channel, is no longer available to this bot.',
    );
  });
});

describe('what is said of a server names the channels that decided for themselves', () => {
  const SONGS = { address: { ...HERE, channel: 'songs', channelName: 'songs' } };
  const STILL = 'These channels keep their own settings: #songs.';

  test('by pages', async () => {
    expect(await says('pages', 'set', { songs: 'on' }, SONGS)).not.toContain('keep their own settings');
    expect(await says('pages', 'set', { songs: 'on', where: 'server' })).not.toContain(
      'keep their own settings',
    );
    expect(await says('pages', 'set', { songs: 'off', where: 'server' })).toContain(
      `Song pages are off in this server. Shared links no longer work. ${STILL}`,
    );
  });

  test('by a system prompt, the assistant and the footer', async () => {
    await run('models', 'answers', { prompt: 'Be rude', footer: false }, SONGS);
    expect(await says('models', 'answers', { prompt: 'Be kind', where: 'server' })).toContain(STILL);
    expect(await says('models', 'answers', { footer: true, where: 'server' })).toContain(STILL);
    expect(await says('models', 'answers', { assistant: true, where: 'server' })).not.toContain(
      'keep their own settings',
    );
  });
});

test('Again answers as is decided now: by the model with commands only while it may', async () => {
  const picture = { name: 'kept.png', bytes: 1, contentType: 'image/png' };
  const said = (text: string) => ({ type: 'text' as const, text });
  const question = { role: 'user' as const, parts: [said('Make a song')] };
  const turns = [{ role: 'user' as const, parts: [{ type: 'image' as const, file: picture }] }, question];
  const commands = ['song', 'lyrics', 'image', 'video', 'stems'];
  const work = {
    route: 'answer' as const,
    dialect: 'gen' as const,
    request: { model: 'gem', turns, system: 'Be rude.' },
    way: { type: 'tools' as const, commands },
    reply: true,
  };
  const job = await world.start({ work, title: '“Make a song”' }, { command: 'ask' });
  const again = async (toolModel = 'gem') => {
    bot = createBotOn(world, { administered, toolModel });
    const outcome = await run('ask', undefined, {}, { action: { name: 'again', job, index: 0 } });
    if (outcome.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(outcome)}`);
    return (await world.read(outcome.job)).work;
  };
  await run('models', 'set', { family: 'ask', model: 'chat-small' });
  const unseen = [{ role: 'user', parts: [said('(a picture)')] }, question];
  expect(await again()).toEqual({
    route: 'answer',
    dialect: 'chat',
    reply: false,
    request: { model: 'chat-small', turns: unseen },
  });
  await run('models', 'answers', { prompt: 'Be kind.' });
  await run('models', 'answers', { assistant: true, footer: false });
  for (const model of ['gem', 'another-gem'])
    expect(await again(model)).toEqual({
      route: 'answer',
      dialect: 'gen',
      reply: false,
      way: work.way,
      footer: false,
      request: { model, turns, system: 'Be kind.' },
    });
});

test('Again answers by the model that a person named, with commands only while it may', async () => {
  const asked = async (options: Invocation['options'], action?: Invocation['action']) => {
    const outcome = await run('ask', undefined, options, action && { action });
    if (outcome.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(outcome)}`);
    return await world.read(outcome.job);
  };
  administered.list.offer(['chat-small', 'gem']);
  await run('models', 'set', { family: 'ask', model: 'chat-small' });
  await run('models', 'answers', { assistant: true });
  bot = createBotOn(world, { administered, toolModel: 'gem' });
  const { id: job, work } = await asked({ question: 'why?', model: 'gen:gem' });
  expect(work).toMatchObject({ dialect: 'gen', way: { type: 'tools' }, request: { model: 'gem' } });
  const again = async () => (await asked({}, { name: 'again', job, index: 0 })).work;
  expect(await again()).toMatchObject({ dialect: 'gen', way: { type: 'tools' }, request: { model: 'gem' } });
  await run('models', 'answers', { assistant: false });
  const without = await again();
  expect(without).toMatchObject({ dialect: 'gen', request: { model: 'gem' } });
  expect(without).not.toHaveProperty('way');
});

describe('/limits', () => {
  test('set, show and reset', async () => {
    expect(await says('limits', 'show')).toContain('There are no limits.');
    const set = await says('limits', 'set', { what: 'song', most: 2, per: 'hour', where: 'server' });
    expect(set).toContain('Limits for everyone in this server now: 2 songs per person and hour.');
    expect(set).toContain('Undo: /limits reset what:song where:server');
    expect(await says('limits', 'show')).toContain(
      '2 songs per person and hour (set for this server): 0 requests used',
    );
    expect(await says('limits', 'set', { what: 'song', most: 1, together: true })).toContain(
      'Limits for everyone in this channel now: 1 song per day in this channel, for all together; 2 songs per person and hour.',
    );
    const reset = await says('limits', 'reset', { what: 'song', where: 'server' });
    expect(reset).toContain('Removed: 2 songs per person and hour.');
    expect(reset).toContain('No limit on songs set here applies to everyone in this server now.');
    expect(await says('limits', 'reset', { what: 'ask' })).toContain('There was nothing to remove.');
  });

  test('for somebody, by mention; anything else is asked for again', async () => {
    expect(
      await says('limits', 'set', { what: 'all', most: 0, who: '<@troll|Troll>', where: 'server' }),
    ).toContain('Limits for Troll in this server now: 0 requests per day for Troll.');
    const fans = { what: 'all', who: '<@&42|Fans>', where: 'server' };
    await run('limits', 'set', { what: 'all', most: 5, who: '@everyone', where: 'server' });
    expect(await says('limits', 'set', { ...fans, most: 50 })).toContain('each person with the role Fans');
    const unlimited = await says('limits', 'set', fans);
    expect(unlimited).toContain('No limit set here applies to Fans in this server now.');
    expect(unlimited).toContain('- 5 requests per person and day (this server)');
    expect(await says('limits', 'show')).toContain('no limit for Fans (this server)');
    const outcome = await run('limits', 'set', { what: 'all', most: 1, who: 'Ada' });
    expect(privately(outcome).text).toContain('I cannot find “Ada”.');
    expect(outcome).toMatchObject({ option: 'who' });
    for (const options of [{ who: '<@ada>', most: 1 }, {}])
      expect(await run('limits', 'set', { what: 'all', together: true, ...options })).toMatchObject({
        option: 'together',
      });
  });

  test('says when units mean nothing because no prices are set', async () => {
    const unpriced = createBotOn(world, { administered: administer(world) });
    const outcome = await unpriced.run({
      id: 'units',
      command: 'limits',
      subcommand: 'set',
      options: { what: 'all', most: 5, of: 'units' },
      address: HERE,
      person: MOD,
    });
    expect(privately(outcome).text).toContain('has set no prices');
  });

  test('allow, deny and reset say what applies now and why, and show lists it', async () => {
    expect(await says('limits', 'deny', { what: 'song', where: 'server' })).toContain(
      'In this server, nobody may use /song and the other commands for songs now.',
    );
    const allowed = await says('limits', 'allow', { what: 'song', who: '<@&7|DJ>', where: 'server' });
    expect(allowed).toContain('In this server, DJ may use /song and the other commands for songs now.');
    expect(allowed).toContain(
      'Related rules:\n- nobody may use /song and the other commands for songs (this server)',
    );
    expect(allowed).toContain('Undo: /limits reset what:song who:@DJ where:server');
    await run('limits', 'deny', { what: 'all', who: '<@troll|Troll>', where: 'server' });
    expect(await says('limits', 'allow', { what: 'moderation', who: '<@&8|Helpers>' })).toContain(
      'Server Settings → Integrations',
    );
    await run('limits', 'allow', { what: 'lyrics' });
    const shown = await says('limits', 'show');
    for (const line of [
      'everyone may use /lyrics (this channel)',
      'DJ may use /song and the other commands for songs (this server)',
      'Troll may not use any command (this server)',
      'Helpers may use the commands for moderators (this server)',
      'Channel rules override server rules',
    ])
      expect(shown).toContain(line);
    expect(await says('limits', 'reset', { what: 'lyrics' })).toContain(
      'In this channel, nobody may use /lyrics now: nobody may use /song and the other commands for songs (this server).',
    );
    expect(await says('limits', 'reset', { what: 'song', where: 'server' })).toContain(
      'everyone may use /song and the other commands for songs now: no rule says otherwise.',
    );
    expect(await says('limits', 'reset', { what: 'moderation', who: '<@&8|Helpers>' })).toContain(
      'Helpers may not use the commands for moderators now: nobody may use the commands for moderators (the default).',
    );
    expect(await says('limits', 'allow', { what: 'dance' })).toContain('“what” can be all, song, lyrics');
    expect(await says('limits', 'allow', { what: 'moderation', who: '<@ada>', where: 'channel' })).toContain(
      'add where:server',
    );
  });

  test('what a channel allows everyone lets nobody in whom the server denies, and the answer lists that', async () => {
    const lyrics = (who: string) =>
      run('lyrics', undefined, { topic: 'rain' }, { person: { ...ADA, id: who } });
    await run('limits', 'deny', { what: 'lyrics', who: '<@bob|Bob>', where: 'server' });
    expect(await says('limits', 'allow', { what: 'lyrics' })).toContain(
      '- Bob may not use /lyrics (this server)',
    );
    expect([(await lyrics('ada')).type, (await lyrics('bob')).type]).toEqual(['accepted', 'message']);
    await run('limits', 'allow', { what: 'lyrics', who: '<@bob|Bob>' });
    expect((await lyrics('bob')).type).toBe('accepted');
  });

  test('a rule for the server names the channels with rules of their own', async () => {
    await run(
      'limits',
      'deny',
      { what: 'stems' },
      { address: { ...HERE, channel: 'quiet', channelName: 'quiet' } },
    );
    expect(await says('limits', 'allow', { what: 'song', where: 'server' })).toContain(
      'keep their own settings: #quiet.',
    );
    expect(await says('limits', 'allow', { what: 'ask', where: 'server' })).not.toContain(
      'keep their own settings',
    );
    expect(await says('limits', 'set', { what: 'song', most: 3, where: 'server' })).not.toContain(
      'keep their own settings',
    );
  });

  test('on Slack, people of other workspaces are let in by a rule, and rules are of a workspace', async () => {
    const slack = { address: { ...HERE, platform: 'slack' } };
    const visitors = { what: 'all', who: 'visitors', where: 'server' };
    const allowed = await says('limits', 'allow', visitors, slack);
    expect(allowed).toContain('In this workspace, people of other workspaces may use any command now.');
    expect(allowed).toContain('Undo: /limits reset what:all who:@visitors where:workspace');
    expect(await says('limits', 'reset', visitors, slack)).toContain(
      'people of other workspaces may not use any command (the default)',
    );
  });

  test('who may not use /party cannot use the button that plays a song, either', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const press = { person: ADA, action: { name: 'play', job, index: 0 } };
    expect(await run('song', undefined, {}, press)).toMatchObject({ visibility: 'channel' });
    await run('limits', 'deny', { what: 'party', where: 'server' });
    expect(await says('song', undefined, {}, press)).toContain('Moderators have switched /party off here.');
    expect(await run('song', undefined, {}, { ...press, person: MOD })).toMatchObject({
      visibility: 'channel',
    });
  });

  test('report tells by person, family and day, with a picture', async () => {
    expect(await says('limits', 'report')).toContain('No usage in the last 30 days.');
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const message = privately(await run('limits', 'report', { days: 7 }));
    const text = message.text?.replaceAll('\\', '') ?? '';
    expect(text).toContain('- song: 1');
    expect(text).toContain('- Ada: 1');
    expect(text).toContain(`- ${new Date(world.clock.now()).toISOString().slice(0, 10)}: 1`);
    expect(message.media).toMatchObject([{ kind: 'image', name: 'usage.png', source: { type: 'kept' } }]);
    expect(await says('limits', 'report', { days: 0 })).toContain('must be at least 1');
  });

  test('what is one is told as one', async () => {
    expect(await says('limits', 'report', { days: 1 })).toContain('No usage in the last day.');
    await run('limits', 'set', { what: 'song', most: 5, together: true, where: 'server' });
    await run('song', undefined, { prompt: 'rain' });
    expect(await says('limits', 'show')).toContain('(set for this server): 1 request used');
  });
});

describe('/minstrel', () => {
  const asAda = { person: ADA, address: HERE };

  test('helps with what the person may use', async () => {
    const help = await says('minstrel', undefined, {}, asAda);
    expect(help).toContain('**/song**: Create a song');
    expect(help).not.toContain('/limits**');
    expect(help).toContain("- **Songs**: V5, the operator's default");
    expect(await says('minstrel', 'help')).toContain('**/limits**');
  });

  test('forget says first what it erases, and then erases it', async () => {
    const job = await world.start(SONG);
    expect(await says('minstrel', 'forget', {}, asAda)).toContain('permanently erases');
    expect(await says('minstrel', 'forget', { confirm: true }, asAda)).toContain('still running (1)');
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const bobs = await world.start(SONG, { person: { ...ADA, id: 'bob' } });
    expect(await says('minstrel', 'usage', {}, asAda)).toContain('- song: 1, 0 units');
    expect(await says('minstrel', 'forget', { confirm: true }, asAda)).toContain(
      'Erased 1 request with all results, ',
    );
    expect(await world.storage.jobs.read(job)).toBeUndefined();
    expect(await world.read(bobs)).toBeDefined();
    expect(await says('minstrel', 'usage', {}, asAda)).toContain('You have no usage here');
    const press = { ...asAda, action: { name: 'again', job, index: 0 } };
    expect(await says('song', undefined, {}, press)).toContain('This is too old');
  });

  test('audit is for moderators, newest first', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    await run('limits', 'set', { what: 'all', who: 'moderators' });
    expect(await says('minstrel', 'audit', {}, asAda)).toContain('Only moderators can see');
    const lines = (await says('minstrel', 'audit')).split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain('UTC, Mod, channel channel, model for ask: not chosen here → chat-large');
  });
});
