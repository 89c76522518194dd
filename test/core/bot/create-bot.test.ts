import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import { type Bot, createBot } from '../../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import { UserError } from '../../../src/core/errors.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import type { Message } from '../../../src/core/message.ts';
import { createWorld, songCallback, type World } from '../../jobs/world.ts';
import { createBotOn } from '../bot-on-world.ts';
import { SILENT_BOT } from '../silent-bot.ts';

let world: World;
let bot: Bot;
let events = 0;

beforeEach(async () => {
  world = await createWorld();
  bot = createBotOn(world);
});
afterEach(() => world[Symbol.asyncDispose]());

function ask(
  command: string,
  options: Invocation['options'] = {},
  more: Partial<Invocation> = {},
): Promise<Outcome> {
  return bot.run({
    id: `event-${++events}`,
    command,
    options,
    address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    ...more,
  });
}

function privately(outcome: Outcome): Message {
  if (outcome.type !== 'message' || outcome.visibility !== 'person')
    throw new Error(`Not private: ${JSON.stringify(outcome)}`);
  return outcome.message;
}

function accepted(outcome: Outcome): string {
  if (outcome.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(outcome)}`);
  return outcome.job;
}

describe('commands send requests to the gateway', () => {
  it.each([
    [
      'song',
      { prompt: 'a tune for rain' },
      { customMode: false, instrumental: false, model: 'V5', prompt: 'a tune for rain' },
    ],
    [
      'song',
      { prompt: 'rain', instrumental: true },
      { customMode: false, instrumental: true, model: 'V5', prompt: 'rain' },
    ],
    [
      'song',
      { lyrics: '[Verse]\nDrip drop', style: 'lofi', title: 'Rain' },
      {
        customMode: true,
        instrumental: false,
        model: 'V5',
        title: 'Rain',
        style: 'lofi',
        prompt: '[Verse]\nDrip drop',
      },
    ],
    [
      'song',
      { lyrics: '[Verse]\nDrip drop', model: 'V4' },
      {
        customMode: true,
        instrumental: false,
        model: 'V4',
        title: 'Drip drop',
        style: 'Drip drop',
        prompt: '[Verse]\nDrip drop',
      },
    ],
    [
      'song',
      { prompt: 'rain', style: 'lofi', instrumental: true },
      {
        customMode: true,
        instrumental: true,
        model: 'V5',
        title: 'Rain',
        style: 'lofi',
      },
    ],
    ['lyrics', { topic: 'rain' }, { prompt: 'rain' }],
    [
      'image',
      { prompt: 'a fox', size: 'wide', avoid: 'snow' },
      { model: 'some-model', prompt: 'a fox', size: '1792*1008', negativePrompt: 'snow' },
    ],
    [
      'video',
      { prompt: 'waves', duration: 5, resolution: '720P' },
      { model: 'some-model', prompt: 'waves', duration: 5, resolution: '720P' },
    ],
  ])('/%s %j', async (command, options, request) => {
    const job = await world.read(accepted(await ask(command, options)));
    expect(job.work.request).toEqual(request);
  });

  it('/ask uses the route before the model, and the msg route for an image', async () => {
    const byDefault = await world.read(accepted(await ask('ask', { question: 'Why?' })));
    expect(byDefault.work).toMatchObject({ dialect: 'chat', request: { model: 'some-model' } });
    const withRoute = await world.read(
      accepted(await ask('ask', { question: 'Why?', model: 'gen:thinker' })),
    );
    expect(withRoute.work).toMatchObject({ dialect: 'gen', request: { model: 'thinker' } });
    const picture = {
      name: 'fox.png',
      contentType: 'image/png',
      bytes: 9,
      url: 'https://cdn.example/fox.png',
    };
    const withImage = await world.read(
      accepted(await ask('ask', { question: 'Who is this?', image: picture })),
    );
    expect(withImage.work).toMatchObject({ dialect: 'msg' });
  });

  it('/ask sends earlier messages as turns with the names of their authors', async () => {
    const conversation = [
      { author: 'bot' as const, text: 'Hello!', files: [] },
      { author: 'person' as const, name: 'Ada', text: 'I am Ada.', files: [] },
      { author: 'person' as const, name: 'Bob', text: 'And I am Bob.', files: [] },
      { author: 'bot' as const, text: 'Hello both.', files: [] },
    ];
    const job = await world.read(accepted(await ask('ask', { question: 'Who are we?' }, { conversation })));
    expect(job.work).toMatchObject({
      request: {
        turns: [
          { role: 'assistant', parts: [{ text: 'Hello!' }] },
          { role: 'user', name: 'Ada', parts: [{ text: 'I am Ada.' }] },
          { role: 'user', name: 'Bob', parts: [{ text: 'And I am Bob.' }] },
          { role: 'assistant', parts: [{ text: 'Hello both.' }] },
          { role: 'user', name: 'Ada', parts: [{ text: 'Who are we?' }] },
        ],
      },
    });
  });
});

describe('invalid input is refused privately, and nothing is stored', () => {
  it.each([
    ['song', {}, /Describe the song/],
    ['song', { prompt: 'x'.repeat(501) }, /501 characters. The limit is 500/],
    ['song', { lyrics: 'la', instrumental: true }, /An instrumental can't have lyrics/],
    ['song', { lyrics: 'x'.repeat(3001), model: 'V4' }, /3001 characters. The limit is 3000/],
    ['song', { prompt: 'x', model: 'V1' }, /“V1” isn't a song model/],
    ['lyrics', { topic: 'rain '.repeat(201) }, /201 words. The limit is 200/],
    ['stems', {}, /There are no songs here yet/],
    ['video', {}, /Describe the video/],
    [
      'video',
      { prompt: 'waves', duration: 7 },
      /“duration” must be one of: 5 seconds, 10 seconds, 15 seconds/,
    ],
    ['image', {}, /The option “prompt” is required/],
    ['nonsense', {}, /There is no command “nonsense”/],
  ])('/%s %j', async (command, options, sentence) => {
    expect(privately(await ask(command, options)).text).toMatch(sentence);
    expect(await world.storage.jobs.running({ platform: 'discord', channel: 'channel' }, 'ada')).toEqual([]);
  });
});

describe('errors', () => {
  const silent = { prompt: 'rain', instrumental: true, lyrics: 'la la' };
  const long = { prompt: 'rain'.repeat(10_000) };

  it('name options of a typed command as people type them', async () => {
    expect(privately(await ask('song', silent)).text).toContain('Leave out “lyrics” or “instrumental”.');
    expect(privately(await ask('song', long)).text).toContain('“prompt” is too long');
  });

  it('name the fields of a form by their labels', async () => {
    const form = { isForm: true };
    expect(privately(await ask('song', silent, form)).text).toContain(
      'Leave out “Lyrics” or “Instrumental”.',
    );
    expect(privately(await ask('song', long, form)).text).toContain('“Description” is too long');
    expect(await ask('song', long, form)).toMatchObject({ option: 'prompt' });
  });

  it('name the fields of a form under a result by their labels', async () => {
    const job = await finishedSong();
    const extend = { action: { name: 'extend', job, index: 0 }, isForm: true };
    const text = privately(await ask('song', { prompt: 'x'.repeat(50_000) }, extend)).text;
    expect(text).toContain('“Lyrics of the new part” is too long');
  });
});

async function finishedSong(): Promise<string> {
  const job = accepted(await ask('song', { prompt: 'rain' }));
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  return job;
}

describe('buttons', () => {
  const press = (name: string, job: string, more: Partial<Invocation> = {}) =>
    ask('song', {}, { action: { name, job, index: 0 }, ...more });

  it('split a song, show its lyrics, and repeat the request', async () => {
    const job = await finishedSong();
    const split = { name: 'stems', job, index: 0 };
    const stems = await world.read(
      accepted(await ask('song', { split: 'separate_vocal' }, { action: split, isForm: true })),
    );
    expect(stems).toMatchObject({
      command: 'stems',
      parent: job,
      work: { request: { taskId: 'task-1', audioId: 'audio-one' } },
    });
    expect(privately(await press('lyrics', job)).text).toContain('Rain on the roof');
    const repeated = await world.read(accepted(await press('again', job)));
    expect(repeated.work).toEqual((await world.read(job)).work);
  });

  it('let only the requester or a moderator cancel', async () => {
    const job = accepted(await ask('song', { prompt: 'rain' }));
    const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
    expect(privately(await press('cancel', job, { person: bob })).text).toContain(
      'Only a moderator or the person who requested this',
    );
    expect(privately(await press('cancel', job, { person: { ...bob, moderator: true } })).text).toBe(
      'Cancelling.',
    );
    await world.advance(job);
    expect(privately(await press('cancel', job)).text).toContain('This has already finished.');
  });

  it('are refused from another server, for an unknown job and for an unknown action', async () => {
    const job = await finishedSong();
    const elsewhere = { platform: 'discord', guild: 'other', channel: 'channel', person: 'ada' };
    expect(privately(await press('stems', job, { address: elsewhere })).text).toContain(
      'only works in the server',
    );
    expect(privately(await press('stems', 'gone')).text).toContain('no longer works');
    expect(privately(await press('dance', job)).text).toContain('no longer works');
    expect(privately(await press('show', job)).text).toContain('nothing left to show');
  });

  it('open the song form with the lyrics filled in', async () => {
    const job = accepted(await ask('lyrics', { topic: 'rain' }));
    await world.advance(job);
    await world.callback(job, {
      code: 200,
      data: { callbackType: 'complete', taskId: 'task-1', data: [{ title: 'Drip', text: 'Drip drop' }] },
    });
    await world.advance(job);
    const outcome = await ask('lyrics', {}, { action: { name: 'sing', job, index: 0 } });
    expect(outcome).toMatchObject({
      type: 'form',
      form: { id: 'song', initial: { lyrics: 'Drip drop', title: 'Drip' } },
    });
  });
});

describe('songs of the channel', () => {
  it('complete the option of /stems, which defaults to the latest song', async () => {
    const job = accepted(await ask('song', { prompt: 'rain' }));
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    const request = {
      command: 'stems',
      option: 'song',
      typed: 'rai',
      options: {},
      address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    };
    const choices = await bot.suggest(request);
    expect(choices).toEqual([
      { name: 'Rain (take 1)', value: `${job}:0`, typed: 'Rain (take 1)' },
      { name: 'Rain (take 2)', value: `${job}:1`, typed: 'Rain (take 2)' },
    ]);
    const latest = await world.read(accepted(await ask('stems')));
    expect(latest.work.request).toMatchObject({ audioId: 'audio-one', type: 'separate_vocal' });
    const second = await world.read(accepted(await ask('stems', { song: choices[1]?.value, split: 'all' })));
    expect(second.work.request).toMatchObject({ audioId: 'audio-two', type: 'split_stem' });
    expect(privately(await ask('stems', { song: 'Thunder' })).text).toContain(
      'no song named “Thunder” here. The latest is “Rain (take 1)”',
    );
  });
});

it('/jobs lists the running jobs of the person here, with cancel buttons', async () => {
  expect(privately(await ask('jobs')).text).toContain('You have no running jobs here');
  const job = accepted(await ask('song', { prompt: 'rain' }));
  const message = privately(await ask('jobs'));
  expect(message.text).toContain('starting');
  expect(message.actions).toMatchObject([{ id: `song.cancel:${job}:0` }]);
  // The gateway has not answered yet.
  await world.storage.jobs.replace({ ...(await world.read(job)), state: 'ready', end: 'cancelled' });
  const updated = privately(await ask('jobs'));
  expect(updated.text).toContain(': cancelled, ');
  expect(updated.actions).toBeUndefined();
});

it('an unexpected error becomes a message with a reference, and a log line with the cause', async () => {
  const broken = createBot({
    ...SILENT_BOT,
    home: async () => [],
    prompts: async () => [],
    commands,
    log: world.log,
    newReference: () => 'ref-1',
    enter: () => Promise.reject(new TypeError('a bug')),
  });
  const outcome = await broken.run({
    id: 'event',
    command: 'song',
    options: { prompt: 'rain' },
    address: { platform: 'discord', channel: 'channel', person: 'ada' },
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
  });
  expect(privately(outcome).text).toContain('ref-1');
  expect(privately(outcome).text).not.toContain('a bug');
  expect(world.log.lines.at(-1)).toMatchObject({
    level: 'error',
    fields: { reference: 'ref-1', err: expect.any(TypeError) },
  });
  expect(new UserError('shown').message).toBe('shown');
});
