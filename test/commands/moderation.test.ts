import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bot } from '../../src/core/bot/bot.ts';
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
      'Answers in this channel now use **chat-small**. “chat small” is the name of **chat-small**.',
    );
    const shown = await says('models', 'show');
    expect(shown).toContain('**Answers**: **chat-small**, chosen for this channel by Mod');
    expect(shown).toContain('**Songs**: **V5**, the default of whoever runs this bot');
    expect(shown).toContain('**Videos**: nobody has chosen');
    expect(await says('models', undefined)).toBe(shown);
  });

  test('set for the server says where a channel’s own choice still wins, by its name', async () => {
    const general = { address: { ...HERE, channelName: 'general' } };
    await run('models', 'set', { family: 'ask', model: 'chat-large' }, general);
    const named = { address: { ...HERE, channel: 'unnamed' } };
    await run('models', 'set', { family: 'ask', model: 'canvas-plus' }, named);
    expect(await says('models', 'set', { family: 'ask', model: 'chat-small', where: 'server' })).toContain(
      'Their own choice still wins in #general (chat-large), channel unnamed (canvas-plus).',
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
    expect(await says('models', 'reset', { family: 'song' })).toBe(
      '\nThere was no choice for song in this channel.\n',
    );
    expect(await says('models', 'reset', { family: 'song', where: 'server' })).toContain(
      'Taken back. **Songs**: **V5**',
    );
  });

  test('refresh asks the gateway again', async () => {
    expect(await says('models', 'refresh')).toContain('3 models');
    expect(administered.list.refreshes).toBe(1);
  });

  test('prompt opens a form with what is there, keeps it, and takes it back', async () => {
    expect(await run('models', 'prompt')).toMatchObject({
      type: 'form',
      form: { id: 'models prompt', initial: { where: 'channel' }, options: { text: { required: true } } },
    });
    await run('models', 'prompt', { text: 'Be brief.\nRhyme.', where: 'channel' });
    expect(await run('models', 'prompt')).toMatchObject({ form: { initial: { text: 'Be brief.\nRhyme.' } } });
    expect(await says('models', 'show')).toContain('Rhyme. (chosen for this channel)');
    expect(await says('models', 'prompt', { reset: true })).toContain('Taken back');
    expect(await says('models', 'show')).toContain('**System prompt**: none');
  });

  test('answers switches the assistant and the footer', async () => {
    const said = await says('models', 'answers', { assistant: true, footer: false, where: 'server' });
    expect(said).toContain('commands): on, chosen for this server');
    expect(said).toContain('answer): off, chosen for this server');
    await run('models', 'answers', { reset: true, where: 'server' });
    expect(await says('models', 'show')).toContain('answer): on, the default of whoever runs this bot');
  });

  test('answers opens a form with what is decided here, and changes what was changed in it alone', async () => {
    await run('models', 'answers', { assistant: true, where: 'server' });
    await run('models', 'answers', { footer: false });
    const opened = await run('models', 'answers');
    if (opened.type !== 'form') throw new Error('No form was opened');
    expect(opened.form).toMatchObject({ id: 'models answers', initial: { footer: 'off', where: 'channel' } });
    expect(opened.form.initial).not.toHaveProperty('assistant');
    await run('models', 'answers', opened.form.initial);
    const shown = await says('models', 'show');
    expect(shown).toContain('commands): on, chosen for this server');
    expect(shown).toContain('answer): off, chosen for this channel');
  });

  test('a model that is gone is told in show', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    administered.list.offer(['chat-small']);
    expect(await says('models', 'show')).toContain(
      '⚠️ chat-large, chosen for this channel, is not offered to this bot any more.',
    );
  });
});

describe('what is said of a server names the channels that decided for themselves', () => {
  const SONGS = { address: { ...HERE, channel: 'songs', channelName: 'songs' } };
  const SLACK = { ...HERE, platform: 'slack', channelName: 'lounge' };
  const STILL = 'Their own choice still wins in #songs.';

  test('by pages', async () => {
    expect(await says('pages', 'set', { songs: 'on' }, SONGS)).not.toContain('still wins');
    expect(await says('pages', 'set', { songs: 'on', where: 'server' })).not.toContain('still wins');
    expect(await says('pages', 'set', { songs: 'off', where: 'server' })).toContain(
      `Songs made in this server have no pages now. Links that were shared open nothing. ${STILL}`,
    );
  });

  test('by a system prompt, the assistant and the footer', async () => {
    await run('models', 'prompt', { text: 'Be rude' }, SONGS);
    await run('models', 'answers', { footer: false }, SONGS);
    expect(await says('models', 'prompt', { text: 'Be kind', where: 'server' })).toContain(STILL);
    expect(await says('models', 'answers', { footer: true, where: 'server' })).toContain(STILL);
    expect(await says('models', 'answers', { assistant: true, where: 'server' })).not.toContain('still wins');
  });

  test('by visitors, which can be taken back', async () => {
    const visitors = (options: Invocation['options']) =>
      says('limits', 'visitors', options, { address: SLACK });
    await visitors({ allow: true });
    expect(await visitors({ allow: false, where: 'server' })).toContain(
      'not served in this workspace, and told so. Their own choice still wins in #lounge.',
    );
    expect(await visitors({ reset: true })).toContain(
      'Taken back. People of other workspaces are not served in this channel.',
    );
    expect(await visitors({ reset: true })).toContain('Nothing was decided for this channel.');
    expect(await visitors({ allow: false, where: 'server' })).not.toContain('still wins');
    const opened = await run('limits', 'visitors', {}, { address: SLACK });
    expect(opened).toMatchObject({ form: { id: 'limits visitors', initial: { allow: 'off' } } });
  });
});

test('Again answers as is decided now: by the model with commands only while it may', async () => {
  const picture = { name: 'kept.png', bytes: 1, contentType: 'image/png' };
  const said = (text: string) => ({ type: 'text' as const, text });
  const question = { role: 'user' as const, parts: [said('Make a song')] };
  const turns = [{ role: 'user' as const, parts: [{ type: 'image' as const, file: picture }] }, question];
  const group = 'Several people talk here. The name of who says it stands before each message.';
  const commands = ['song', 'lyrics', 'image', 'video', 'stems'];
  const work = {
    route: 'answer' as const,
    dialect: 'gen' as const,
    request: { model: 'gem', turns, system: `Be rude.\n\n${group}` },
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
    request: { model: 'chat-small', turns: unseen, system: group },
  });
  await run('models', 'prompt', { text: 'Be kind.' });
  await run('models', 'answers', { assistant: true, footer: false });
  for (const model of ['gem', 'another-gem'])
    expect(await again(model)).toEqual({
      route: 'answer',
      dialect: 'gen',
      reply: false,
      way: work.way,
      footer: false,
      request: { model, turns, system: `Be kind.\n\n${group}` },
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
    expect(await says('limits', 'show')).toContain('Nothing is limited.');
    expect(await says('limits', 'set', { scope: 'person', family: 'song', most: 2, per: 'hour' })).toContain(
      'The limit is now 2 songs per person and hour.',
    );
    expect(await says('limits', 'show')).toContain(
      '2 songs per person and hour (chosen for this server): 0 requests used',
    );
    expect(await says('limits', 'set', { scope: 'person', family: 'song', per: 'hour' })).toContain(
      'There is no limit on songs per person and hour any more.',
    );
    expect(await says('limits', 'reset', { scope: 'channel' })).toContain('There was no limit');
  });

  test('for somebody, by mention; anything else is asked for again', async () => {
    expect(await says('limits', 'set', { scope: 'server', most: 0, who: '<@troll|Troll>' })).toContain(
      '0 requests per day for Troll',
    );
    expect(await says('limits', 'set', { scope: 'person', most: 50, who: '<@&42|Fans>' })).toContain(
      'for each person with the role Fans',
    );
    const outcome = await run('limits', 'set', { scope: 'person', most: 1, who: 'Ada' });
    expect(privately(outcome).text).toContain('I cannot tell who “Ada” is');
    expect(outcome).toMatchObject({ option: 'who' });
  });

  test('for @everyone, it is for each person', async () => {
    expect(await says('limits', 'set', { scope: 'person', most: 5, who: '@everyone' })).toContain(
      'The limit is now 5 requests per person and day.',
    );
  });

  test('says when units mean nothing because no prices are set', async () => {
    const unpriced = createBotOn(world, { administered: administer(world) });
    const outcome = await unpriced.run({
      id: 'units',
      command: 'limits',
      subcommand: 'set',
      options: { scope: 'server', most: 5, of: 'units' },
      address: HERE,
      person: MOD,
    });
    expect(privately(outcome).text).toContain('has set no prices');
  });

  test('exempt can be switched off in its form, which holds what is set', async () => {
    await run('limits', 'exempt', { exempt: true });
    const opened = await run('limits', 'exempt');
    expect(opened).toMatchObject({ form: { id: 'limits exempt', initial: { exempt: 'on' } } });
    expect(await says('limits', 'exempt', { exempt: 'off' })).toContain('hold for moderators too');
  });

  test('access: allow, forbid, inherit, block, appoint, and what show says of them', async () => {
    expect(await says('limits', 'allow', { command: '/Song', who: '<@&7|DJ>', where: 'server' })).toContain(
      'In this server, /song is now for: DJ. Moderators may always.',
    );
    expect(await says('limits', 'forbid', { command: 'all' })).toContain(
      'In this channel, all commands are now for: nobody',
    );
    await run('limits', 'block', { who: '<@troll|Troll>' });
    expect(await says('limits', 'appoint', { who: '<@&8|Helpers>' })).toContain(
      'Helpers can now use /models, /limits and /pages in this server.',
    );
    await run('limits', 'exempt', { exempt: true });
    const shown = await says('limits', 'show');
    for (const line of [
      'all commands in this channel: nobody',
      '/song in this server: DJ',
      'blocked: Troll',
      'moderators of this bot, beside the server’s own: Helpers',
      'moderators are exempt from the limits set here',
    ])
      expect(shown).toContain(line);
    expect(await says('limits', 'inherit', { command: 'all' })).toContain('Taken back');
    expect(await says('limits', 'unblock', { who: '<@troll>' })).toContain('can use me again');
    expect(await says('limits', 'unblock', { who: '<@troll>' })).toContain('was not blocked');
    expect(await says('limits', 'forbid', { command: 'song', who: '<@bob|Bob>', where: 'server' })).toContain(
      'In this server, /song is now for: DJ, but not for Bob. Moderators may always.',
    );
    expect(await says('limits', 'show')).toContain('/song in this server: not Bob');
    expect(await says('limits', 'allow', { command: 'dance' })).toContain('There is no command “dance”');
  });

  test('allow and forbid answer with what holds, wherever it was said', async () => {
    await run('limits', 'forbid', { command: 'image', where: 'server' });
    expect(await says('limits', 'forbid', { command: 'image', who: '<@bob|Bob>' })).toContain(
      'In this channel, /image is now for: nobody, as the rule of this server says. Moderators may always.',
    );
    await run('limits', 'forbid', { command: 'ask', who: '<@bob|Bob>', where: 'server' });
    expect(await says('limits', 'allow', { command: 'ask' })).toContain(
      'In this channel, /ask is now for: everyone, but not for Bob.',
    );
    await run('limits', 'forbid', { command: 'lyrics' });
    await run('limits', 'forbid', { command: 'stems', who: '<@eve|Eve>' });
    expect(await says('limits', 'allow', { command: 'all' })).toContain(
      'all commands are now for: everyone. Moderators may always. What was said of /ask, /image, /lyrics, /stems by name still holds.',
    );
    await run('limits', 'forbid', { command: 'song' }, { address: { ...HERE, channel: 'quiet' } });
    expect(await says('limits', 'allow', { command: 'song', where: 'server' })).toContain(
      'In this server, /song is now for: everyone. Moderators may always. Their own choice still wins in channel channel, channel quiet.',
    );
  });

  test('who is barred for the whole server is not let in by a channel, which says so and locks no one out', async () => {
    const lyrics = (who: string) =>
      run('lyrics', undefined, { topic: 'rain' }, { person: { ...ADA, id: who } });
    const barred = { command: 'lyrics', who: '<@bob|Bob>' };
    await run('limits', 'forbid', { ...barred, where: 'server' });
    const refused = await run('limits', 'allow', barred);
    expect(refused).toMatchObject({ option: 'who' });
    expect(privately(refused).text).toBe(
      'Bob is barred from /lyrics by a decision for all channels, and stays so whatever else is allowed. To take that back: /limits allow command:lyrics who:@Bob where:server',
    );
    expect((await lyrics('ada')).type).toBe('accepted');
    expect(await says('limits', 'allow', { ...barred, where: 'server' })).toContain('is now for: everyone.');
    expect((await lyrics('bob')).type).toBe('accepted');
    await run('limits', 'forbid', { ...barred, command: 'all' });
    expect(privately(await run('limits', 'allow', barred)).text).toContain(
      'Bob is barred from all commands by a decision for this channel',
    );
  });

  test('who may not use /party cannot use the button that plays a song, either', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const press = { person: ADA, action: { name: 'play', job, index: 0 } };
    expect(await run('song', undefined, {}, press)).toMatchObject({ visibility: 'channel' });
    await run('limits', 'forbid', { command: 'party', where: 'server' });
    expect(await says('song', undefined, {}, press)).toContain('Moderators have switched /party off here.');
    expect(await run('song', undefined, {}, { ...press, person: MOD })).toMatchObject({
      visibility: 'channel',
    });
  });

  test('report tells by person, family and day, with a picture', async () => {
    expect(await says('limits', 'report')).toContain('Nothing was used in the last 30 days.');
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
    expect(await says('limits', 'report', { days: 1 })).toContain('Nothing was used in the last day.');
    administered.list.offer(['chat-small']);
    expect(await says('models', 'refresh')).toContain('This account may use 1 model.');
    await run('limits', 'set', { scope: 'server', family: 'song', most: 5 });
    await run('song', undefined, { prompt: 'rain' });
    expect(await says('limits', 'show')).toContain('(chosen for this server): 1 request used');
  });
});

describe('/minstrel', () => {
  const asAda = { person: ADA, address: HERE };

  test('helps with what the person may use', async () => {
    const help = await says('minstrel', undefined, {}, asAda);
    expect(help).toContain('**/song**: Make a song');
    expect(help).not.toContain('/limits**');
    expect(help).toContain('- Songs: V5, the default of whoever runs this bot');
    expect(await says('minstrel', 'help')).toContain('**/limits**');
  });

  test('forget says first what it erases, and then erases it', async () => {
    const job = await world.start(SONG);
    expect(await says('minstrel', 'forget', {}, asAda)).toContain('cannot be brought back');
    expect(await says('minstrel', 'forget', { confirm: true }, asAda)).toContain('still running (1)');
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const bobs = await world.start(SONG, { person: { ...ADA, id: 'bob' } });
    expect(await says('minstrel', 'usage', {}, asAda)).toContain('- song: 1, 0 units');
    expect(await says('minstrel', 'forget', { confirm: true }, asAda)).toContain(
      'Erased: 1 request with all results, ',
    );
    expect(await world.storage.jobs.read(job)).toBeUndefined();
    expect(await world.read(bobs)).toBeDefined();
    expect(await says('minstrel', 'usage', {}, asAda)).toContain('You used nothing here');
    const press = { ...asAda, action: { name: 'again', job, index: 0 } };
    expect(await says('song', undefined, {}, press)).toContain('This is too old');
  });

  test('audit is for moderators, newest first', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    await run('limits', 'exempt', { exempt: true });
    expect(await says('minstrel', 'audit', {}, asAda)).toContain('Only moderators may see');
    const lines = (await says('minstrel', 'audit')).split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain('UTC, Mod, channel channel, model for ask: not chosen here → chat-large');
  });
});
