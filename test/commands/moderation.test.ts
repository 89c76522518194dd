import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import { type ActionButton, type Message, parseActionId } from '../../src/core/message.ts';
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

function privateMessage(outcome: Outcome): Message {
  if (outcome.type !== 'message' || outcome.visibility !== 'person')
    throw new Error(`Not private: ${JSON.stringify(outcome)}`);
  return outcome.message;
}

const textOf = async (...call: Parameters<typeof run>): Promise<string> => {
  const { title = '', text = '', fields = [], footer = '' } = privateMessage(await run(...call));
  const facts = fields.map(({ name, value }) => `${name}: ${value}`);
  // Removes Markdown escapes.
  return [title, text, ...facts, footer].join('\n').replaceAll('\\', '');
};

const labelsOf = async (...call: Parameters<typeof run>): Promise<string[]> =>
  (privateMessage(await run(...call)).actions ?? []).map(({ label }) => label);

/** Presses a button of an answer. */
async function press(
  { actions = [] }: Message,
  label: string,
  more: Partial<Invocation> = {},
): Promise<Outcome> {
  const button = actions.find((one): one is ActionButton => one.type === 'action' && one.label === label);
  const target = button && parseActionId(button.id);
  if (target === undefined) throw new Error(`No button ${label}: ${actions.map((one) => one.label).join()}`);
  const { command, action: name, job, index } = target;
  return run(command, undefined, {}, { action: { name, job, index }, ...more });
}

describe('buttons under answers', () => {
  const answer = async (...call: Parameters<typeof run>) => privateMessage(await run(...call));

  test('change a rule in its form, reset it, and show all', async () => {
    const rule = { what: 'image', who: '<@&dj|DJ>', where: 'server' };
    const set = await answer('limits', 'deny', rule);
    expect(await press(set, 'Change')).toMatchObject({
      type: 'form',
      form: {
        id: 'limits deny',
        title: 'Deny a command',
        submitLabel: 'Deny',
        initial: { what: 'image', who: '<@&dj>', where: 'server' },
      },
    });
    const all = privateMessage(await press(set, 'Show all'));
    expect(all.text).toContain("DJ can't use");
    const reset = privateMessage(await press(set, 'Remove this rule'));
    expect(reset.text).toContain("Removed: DJ can't use");
    expect(reset.text).toContain('DJ can use');
    expect((await answer('limits', 'show')).text).not.toContain('DJ');
  });

  test('change and reset a model', async () => {
    const set = await answer('models', 'set', { family: 'ask', model: 'chat-large' });
    expect(await press(set, 'Change')).toMatchObject({
      form: { id: 'models set', submitLabel: 'Use model', initial: { family: 'ask', where: 'channel' } },
    });
    const reset = privateMessage(await press(set, 'Use the default model'));
    expect(reset.fields?.[0]).toMatchObject({
      name: 'Answer model',
      value: expect.not.stringContaining('Mod'),
    });
    const shown = privateMessage(await press(reset, 'Show all'));
    expect(await press(shown, 'Answer settings')).toMatchObject({ form: { id: 'models answers' } });
  });

  test('pause and resume, turn pages off, and set the days of a report', async () => {
    const paused = await answer('limits', 'pause');
    expect(privateMessage(await press(paused, 'Resume')).text).toContain('New jobs are allowed again');
    const pages = await answer('pages', 'set', { songs: 'on' });
    expect(privateMessage(await press(pages, 'Turn off')).text).toContain('Song pages are off');
    expect(privateMessage(await press(pages, 'Use the default')).text).toContain('Reset.');
    const report = await answer('limits', 'report');
    expect(privateMessage(await press(report, 'Last 7 days')).text).toContain('the last 7 days');
  });

  test('are for moderators only, and survive a malformed id', async () => {
    const shown = await answer('limits', 'show');
    const refused = await press(shown, 'Usage', { person: ADA });
    expect(privateMessage(refused).text).toMatch(/moderator/i);
    const action = { name: 'run', job: 'nothing_what-', index: 0 };
    expect(privateMessage(await run('limits', undefined, {}, { action })).text).toContain('no longer works');
    const wrong = { name: 'run', job: 'reset_what-nothing', index: 0 };
    expect(await run('limits', undefined, {}, { action: wrong })).toMatchObject({ option: 'what' });
  });
});

describe('/models', () => {
  test('set reports the ID of a display name, and show reports the origin', async () => {
    expect(await textOf('models', 'set', { family: 'ask', model: 'chat small' })).toContain(
      'Answers in this channel now use **chat-small**. “chat small” has the ID **chat-small**.',
    );
    const shown = await textOf('models', 'show');
    expect(shown).toContain('Answer model: chat-small (this channel, by Mod)');
    expect(shown).toContain('Song model: V5 (default)');
    expect(shown).toContain('Video model: not set');
    expect(await textOf('models', undefined)).toBe(shown);
  });

  test('set for the server names the channels that override it', async () => {
    const general = { address: { ...HERE, channelName: 'general' } };
    await run('models', 'set', { family: 'ask', model: 'chat-large' }, general);
    const unnamed = { address: { ...HERE, channel: 'unnamed' } };
    await run('models', 'set', { family: 'ask', model: 'canvas-plus' }, unnamed);
    expect(await textOf('models', 'set', { family: 'ask', model: 'chat-small', where: 'server' })).toContain(
      'These channels have their own settings: #general (chat-large), channel unnamed (canvas-plus).',
    );
    expect(await textOf('minstrel', 'audit')).toContain(
      'Mod, #general, model for answers: not set → chat-large',
    );
  });

  test('set refuses a model that the account cannot use, and names the option', async () => {
    const outcome = await run('models', 'set', { family: 'ask', model: 'chat-smal' });
    expect(privateMessage(outcome).text).toContain('Did you mean “chat-small” or “chat-large”?');
    expect(outcome).toMatchObject({ option: 'model' });
  });

  test('reset reports the setting in force', async () => {
    await run('models', 'set', { family: 'song', model: 'V4', where: 'server' });
    expect(await textOf('models', 'reset', { what: 'song' })).toBe(
      '\nNothing was set for “song” in this channel.\n',
    );
    expect(await textOf('models', 'reset', { what: 'song', where: 'server' })).toContain(
      'Reset.\nSong model: V5',
    );
  });

  test('set refreshes the model list before it refuses a name', async () => {
    administered.list.refresh = async () => {
      administered.list.offer(['chat-brand-new']);
    };
    expect(await textOf('models', 'set', { family: 'ask', model: 'chat-brand-new' })).toContain('now use');
  });

  test('answers sets prompt, assistant and footer, and reset resets each', async () => {
    const answer = await textOf('models', 'answers', {
      prompt: 'Be brief.\nRhyme.',
      assistant: true,
      footer: false,
      where: 'server',
    });
    expect(answer).toContain('Rhyme. (this server)');
    expect(answer).toContain('Answers use commands: on (this server)');
    expect(answer).toContain('Model and tokens shown: off (this server)');
    expect(await textOf('models', 'reset', { what: 'footer', where: 'server' })).toContain(
      'Model and tokens shown: on (default)',
    );
    await run('models', 'reset', { what: 'prompt', where: 'server' });
    expect(await textOf('models', 'show')).toContain('System prompt: none');
    expect(await textOf('models', 'reset', { what: 'prompt' })).toContain(
      'Nothing was set for “prompt” in this channel.',
    );
  });

  test('answers opens a form with the settings of this channel, and changes only edited fields', async () => {
    await run('models', 'answers', { assistant: true, where: 'server' });
    await run('models', 'answers', { footer: false, prompt: 'Rhyme.' });
    const opened = await run('models', 'answers');
    if (opened.type !== 'form') throw new Error('No form was opened');
    expect(opened.form).toMatchObject({
      id: 'models answers',
      initial: { prompt: 'Rhyme.', footer: 'off', where: 'channel' },
    });
    expect(Object.keys(opened.form.initial)).toEqual(['prompt', 'footer', 'talk', 'where']);
    await run('models', 'answers', opened.form.initial);
    const shown = await textOf('models', 'show');
    expect(shown).toContain('Answers use commands: on (this server)');
    expect(shown).toContain('Model and tokens shown: off (this channel)');
  });

  test('talk can be set for this channel, shown and reset', async () => {
    const on = await textOf('models', 'answers', { talk: true });
    expect(on).toContain('Answer every message: on');
    expect(on).toContain('Each answer starts');
    expect(await run('models', 'answers')).toMatchObject({ form: { initial: { talk: 'on' } } });
    expect(await run('models', 'answers', { talk: false, where: 'server' })).toMatchObject({
      option: 'talk',
    });
    await run('models', 'answers', { talk: false });
    expect(await textOf('minstrel', 'audit')).toContain('answer every message: on → off');
    await run('models', 'answers', { talk: true });
    expect(await textOf('models', 'reset', { what: 'talk' })).toContain('Answer every message: off');
    const direct = { address: { ...HERE, direct: true } };
    expect(await run('models', 'answers', { talk: true }, direct)).toMatchObject({ option: 'talk' });
  });

  test('show warns of a model that is no longer available', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    administered.list.offer(['chat-small']);
    expect(await textOf('models', 'show')).toContain(
      '⚠️ chat-large (this channel) is no longer available to this bot.',
    );
  });

  test('show calls direct messages a chat', async () => {
    const { guild: _, ...address } = { ...HERE, channel: 'direct' };
    await run('models', 'set', { family: 'ask', model: 'chat-large' }, { address });
    administered.list.offer(['chat-small']);
    expect(await textOf('models', 'show', {}, { address })).toContain(
      '⚠️ chat-large (this chat) is no longer available to this bot.',
    );
  });
});

describe('a server setting names the channels that override it', () => {
  const SONGS = { address: { ...HERE, channel: 'songs', channelName: 'songs' } };
  const EXCEPTIONS = 'These channels have their own settings: #songs.';

  test('for pages', async () => {
    expect(await textOf('pages', 'set', { songs: 'on' }, SONGS)).not.toContain('their own settings');
    expect(await textOf('pages', 'set', { songs: 'on', where: 'server' })).not.toContain(
      'their own settings',
    );
    expect(await textOf('pages', 'set', { songs: 'off', where: 'server' })).toContain(
      `Song pages are off in this server. Shared links no longer work. ${EXCEPTIONS}`,
    );
  });

  test('for the system prompt, the assistant and the footer', async () => {
    await run('models', 'answers', { prompt: 'Be rude', footer: false }, SONGS);
    expect(await textOf('models', 'answers', { prompt: 'Be kind', where: 'server' })).toContain(EXCEPTIONS);
    expect(await textOf('models', 'answers', { footer: true, where: 'server' })).toContain(EXCEPTIONS);
    expect(await textOf('models', 'answers', { assistant: true, where: 'server' })).not.toContain(
      'their own settings',
    );
  });
});

test('Again uses the current settings, and the tool model only while the assistant is on', async () => {
  const file = { name: 'stored.png', bytes: 1, contentType: 'image/png' };
  const textPart = (text: string) => ({ type: 'text' as const, text });
  const question = {
    role: 'user' as const,
    parts: [textPart('Create a song about rain on a tin roof, slow and warm.')],
  };
  const turns = [{ role: 'user' as const, parts: [{ type: 'image' as const, file }] }, question];
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
  expect(await again()).toEqual({
    route: 'answer',
    dialect: 'chat',
    reply: false,
    request: { model: 'chat-small', turns },
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

test('Again keeps the model that the person chose, with commands only while the assistant is on', async () => {
  const askJob = async (options: Invocation['options'], action?: Invocation['action']) => {
    const outcome = await run('ask', undefined, options, action && { action });
    if (outcome.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(outcome)}`);
    return await world.read(outcome.job);
  };
  administered.list.offer(['chat-small', 'gem']);
  await run('models', 'set', { family: 'ask', model: 'chat-small' });
  await run('models', 'answers', { assistant: true });
  bot = createBotOn(world, { administered, toolModel: 'gem' });
  const { id: job, work } = await askJob({ question: 'why?', model: 'gen:gem' });
  expect(work).toMatchObject({ dialect: 'gen', way: { type: 'tools' }, request: { model: 'gem' } });
  const again = async () => (await askJob({}, { name: 'again', job, index: 0 })).work;
  expect(await again()).toMatchObject({ dialect: 'gen', way: { type: 'tools' }, request: { model: 'gem' } });
  await run('models', 'answers', { assistant: false });
  const without = await again();
  expect(without).toMatchObject({ dialect: 'gen', request: { model: 'gem' } });
  expect(without).not.toHaveProperty('way');
});

describe('/limits', () => {
  test('set, show and reset', async () => {
    expect(await textOf('limits', 'show')).toContain('There are no limits.');
    const set = await textOf('limits', 'set', { what: 'song', most: 2, per: 'hour', where: 'server' });
    expect(set).toContain('Now: 2 songs per person per hour.');
    expect(await labelsOf('limits', 'set', { what: 'song', most: 2, per: 'hour', where: 'server' })).toEqual([
      'Change',
      'Remove this limit',
      'Show all',
    ]);
    expect(await textOf('limits', 'show')).toContain(
      '2 songs per person per hour (this server): you have used 0 of 2',
    );
    expect(await textOf('limits', 'set', { what: 'song', most: 1, together: true })).toContain(
      'Now: 1 song per day in this channel, shared by everyone; 2 songs per person per hour.',
    );
    const reset = await textOf('limits', 'reset', { what: 'song', where: 'server' });
    expect(reset).toContain('Removed: 2 songs per person per hour.');
    expect(reset).toContain('Moderators have set no limit on songs in this server.');
    expect(await textOf('limits', 'reset', { what: 'ask' })).toContain('There was nothing to remove.');
  });

  test('set takes a mention, and refuses other text', async () => {
    expect(
      await textOf('limits', 'set', { what: 'all', most: 0, who: '<@troll|Troll>', where: 'server' }),
    ).toContain('Now: 0 jobs per day for Troll.');
    const fans = { what: 'all', who: '<@&42|Fans>', where: 'server' };
    await run('limits', 'set', { what: 'all', most: 5, who: '@everyone', where: 'server' });
    expect(await textOf('limits', 'set', { ...fans, most: 50 })).toContain('each person with the role Fans');
    const unlimited = await textOf('limits', 'set', fans);
    expect(unlimited).toContain('Moderators have set no limit for Fans in this server.');
    expect(unlimited).toContain('- 5 jobs per person per day (this server)');
    expect(await textOf('limits', 'show')).toMatch(/Limits.*No limit for Fans \(this server\).*Access/s);
    const outcome = await run('limits', 'set', { what: 'all', most: 1, who: 'Ada' });
    expect(privateMessage(outcome).text).toContain("I can't find “Ada”.");
    expect(outcome).toMatchObject({ option: 'who' });
    for (const options of [{ who: '<@ada>', most: 1 }, {}])
      expect(await run('limits', 'set', { what: 'all', together: true, ...options })).toMatchObject({
        option: 'together',
      });
  });

  test('set warns about units while no prices are set', async () => {
    const unpriced = createBotOn(world, { administered: administer(world) });
    const outcome = await unpriced.run({
      id: 'units',
      command: 'limits',
      subcommand: 'set',
      options: { what: 'all', most: 5, of: 'units' },
      address: HERE,
      person: MOD,
    });
    expect(privateMessage(outcome).text).toContain("hasn't set prices");
  });

  test('allow, deny and reset report the rules in force and why, and show lists them', async () => {
    expect(await textOf('limits', 'deny', { what: 'song', where: 'server' })).toContain(
      "Now in this server: members can't use /song and the other song commands. Moderators still can.",
    );
    const allowed = await textOf('limits', 'allow', { what: 'song', who: '<@&7|DJ>', where: 'server' });
    expect(allowed).toContain('Now in this server: DJ can use /song and the other song commands.');
    expect(allowed).toContain(
      "Related rules:\n- members can't use /song and the other song commands (this server)",
    );
    await run('limits', 'deny', { what: 'all', who: '<@troll|Troll>', where: 'server' });
    expect(await textOf('limits', 'allow', { what: 'moderation', who: '<@&8|Helpers>' })).toContain(
      'Server Settings → Integrations',
    );
    await run('limits', 'allow', { what: 'lyrics' });
    const shown = await textOf('limits', 'show');
    for (const line of [
      'Everyone can use /lyrics (this channel)',
      'DJ can use /song and the other song commands (this server)',
      "Troll can't use any command except /minstrel and /jobs (this server)",
      'Helpers can use the moderator commands (this server)',
      'Channel rules override server rules',
    ])
      expect(shown).toContain(line);
    expect(await textOf('limits', 'reset', { what: 'lyrics' })).toContain(
      "Now in this channel: members can't use /lyrics. Reason: members can't use /song and the other song commands (this server). Moderators still can.",
    );
    expect(await textOf('limits', 'reset', { what: 'song', where: 'server' })).toContain(
      'everyone can use /song and the other song commands. Reason: no rule denies it.',
    );
    expect(await textOf('limits', 'reset', { what: 'moderation', who: '<@&8|Helpers>' })).toContain(
      "Helpers can't use the moderator commands. Reason: the default.",
    );
    expect(await textOf('limits', 'allow', { what: 'dance' })).toContain(
      '“what” must be one of: all, song, lyrics',
    );
    expect(
      await textOf('limits', 'allow', { what: 'moderation', who: '<@ada>', where: 'channel' }),
    ).toContain('Add where:server');
  });

  test('a channel that allows everyone does not loosen a server rule for a person, and lists that rule', async () => {
    const lyrics = (who: string) =>
      run('lyrics', undefined, { topic: 'rain' }, { person: { ...ADA, id: who } });
    await run('limits', 'deny', { what: 'lyrics', who: '<@bob|Bob>', where: 'server' });
    expect(await textOf('limits', 'allow', { what: 'lyrics' })).toContain(
      "- Bob can't use /lyrics (this server)",
    );
    expect([(await lyrics('ada')).type, (await lyrics('bob')).type]).toEqual(['accepted', 'message']);
    await run('limits', 'allow', { what: 'lyrics', who: '<@bob|Bob>' });
    expect((await lyrics('bob')).type).toBe('accepted');
  });

  test('a server rule names the channels that override it', async () => {
    await run(
      'limits',
      'deny',
      { what: 'stems' },
      { address: { ...HERE, channel: 'quiet', channelName: 'quiet' } },
    );
    expect(await textOf('limits', 'allow', { what: 'song', where: 'server' })).toContain(
      'have their own settings: #quiet.',
    );
    expect(await textOf('limits', 'allow', { what: 'ask', where: 'server' })).not.toContain(
      'their own settings',
    );
    expect(await textOf('limits', 'set', { what: 'song', most: 3, where: 'server' })).not.toContain(
      'their own settings',
    );
  });

  test('on Slack, a rule can allow people from other workspaces, and names the workspace', async () => {
    const slack = { address: { ...HERE, platform: 'slack' } };
    const visitors = { what: 'all', who: 'visitors', where: 'server' };
    const allowed = await textOf('limits', 'allow', visitors, slack);
    expect(allowed).toContain(
      'Now in this workspace: people from other workspaces can use all commands for members.',
    );
    // Slack's user menu cannot show this role, so a form would change the rule of everyone.
    expect(await labelsOf('limits', 'allow', visitors, slack)).toEqual(['Remove this rule', 'Show all']);
    expect(await textOf('limits', 'reset', visitors, slack)).toContain(
      "people from other workspaces can't use any command except /minstrel and /jobs. Reason: the default.",
    );
  });

  test('a person without /party cannot use the button that plays a song', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const press = { person: ADA, action: { name: 'play', job, index: 0 } };
    expect(await run('song', undefined, {}, press)).toMatchObject({ visibility: 'channel' });
    await run('limits', 'deny', { what: 'party', where: 'server' });
    expect(await textOf('song', undefined, {}, press)).toContain(
      'Moderators have turned off /party here. If you need it, ask them.',
    );
    expect(await run('song', undefined, {}, { ...press, person: MOD })).toMatchObject({
      visibility: 'channel',
    });
  });

  test('report lists usage by person, family and day, with a chart', async () => {
    expect(await textOf('limits', 'report')).toContain('No usage in the last 30 days.');
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const message = privateMessage(await run('limits', 'report', { days: 7 }));
    expect(message.fields).toEqual([
      { name: 'Total', value: 'All jobs: 1, 0 units' },
      { name: 'By kind', value: 'Songs: 1, 0 units' },
      { name: 'By person', value: 'Ada: 1, 0 units' },
      { name: 'By day (UTC)', value: '14 Nov 2023: 1, 0 units' },
    ]);
    expect(message.data).toMatchObject({
      chart: { title: 'Jobs by day', series: [{ name: 'Songs', values: [0, 0, 0, 0, 0, 0, 1] }] },
      tables: [
        { caption: 'By kind', columns: ['Kind', 'Jobs', 'Units'], rows: [['Songs', 1, 0]] },
        { caption: 'By person', rows: [['Ada', 1, 0]] },
      ],
    });
    const quarter = privateMessage(await run('limits', 'report', { days: 90 })).data?.chart;
    expect(quarter).toMatchObject({ title: 'Jobs per 9 days' });
    expect(quarter?.categories).toHaveLength(10);
    expect(quarter?.series[0]?.values.at(-1)).toBe(1);
    expect(message.media).toMatchObject([{ kind: 'image', name: 'usage.png', source: { type: 'stored' } }]);
    expect(await textOf('limits', 'report', { days: 0 })).toContain('must be at least 1');
  });

  test('uses the singular for one day', async () => {
    expect(await textOf('limits', 'report', { days: 1 })).toContain('No usage in the last day.');
  });

  test('shows how much of a shared limit is used', async () => {
    await run('limits', 'set', { what: 'song', most: 5, together: true, where: 'server' });
    await run('song', undefined, { prompt: 'rain' });
    expect(await textOf('limits', 'show')).toContain('(this server): 1 of 5 used');
  });
});

describe('/minstrel', () => {
  const asAda = { person: ADA, address: HERE };

  test('help lists the commands that the person may use', async () => {
    const help = await textOf('minstrel', undefined, {}, asAda);
    expect(help).toContain('**/song**: Create a song');
    expect(help).not.toContain('/limits**');
    expect(help).toContain('- **Song model**: V5 (default)');
    expect(await textOf('minstrel', 'help')).toContain('**/limits**');
  });

  test('forget asks for confirmation, then erases', async () => {
    const job = await world.start(SONG);
    expect(await textOf('minstrel', 'forget', {}, asAda)).toContain('permanently deletes');
    expect(await textOf('minstrel', 'forget', { confirm: true }, asAda)).toContain('You have 1 running job');
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const jobOfBob = await world.start(SONG, { person: { ...ADA, id: 'bob' } });
    expect(await textOf('minstrel', 'usage', {}, asAda)).toContain('- Songs: 1, 0 units');
    expect(await textOf('minstrel', 'forget', { confirm: true }, asAda)).toContain(
      'Deleted 1 job and all results, ',
    );
    expect(await world.storage.jobs.read(job)).toBeUndefined();
    expect(await world.read(jobOfBob)).toBeDefined();
    expect(await textOf('minstrel', 'usage', {}, asAda)).toContain("You haven't used anything here in");
    const press = { ...asAda, action: { name: 'again', job, index: 0 } };
    expect(await textOf('song', undefined, {}, press)).toContain('This button');
  });

  test('audit lists changes, newest first, for moderators only', async () => {
    await run('models', 'set', { family: 'ask', model: 'chat-large' });
    await run('limits', 'set', { what: 'all', who: 'moderators' });
    expect(await textOf('minstrel', 'audit', {}, asAda)).toContain('Only moderators can see');
    const lines = (await textOf('minstrel', 'audit')).split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain(
      '14 Nov 2023, 22:13 UTC](time:1700000000000): Mod, channel channel, model for answers: not set → chat-large',
    );
  });
});
