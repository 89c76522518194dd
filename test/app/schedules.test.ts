import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ScheduleRunner } from '../../src/app/schedules.ts';
import { createTimers } from '../../src/app/timers.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { createScheduleStore } from '../../src/settings/schedules/schedules.ts';
import { createBotOn, createSchedulesOn } from '../core/bot-on-world.ts';
import { createWorld, type World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';
import { ADA, HERE, MOD, person } from '../settings/samples.ts';

let world: World;
let administered: Administered;
let schedules: ScheduleRunner;
let bot: Bot;
let events = 0;

beforeEach(async () => {
  world = await createWorld();
  administered = administer(world);
  schedules = createSchedulesOn(world, administered);
  bot = createBotOn(world, { administered, schedules });
  await run();
});
const run = () => world.jobs.run(bot.run, createTimers({ schedules: schedules.run(bot) }, world));

afterEach(async () => {
  await world.jobs.stop();
  await world[Symbol.asyncDispose]();
});

async function schedule(
  subcommand: string,
  options: Invocation['options'] = {},
  more: Partial<Invocation> = {},
): Promise<Message> {
  const id = `event-${++events}`;
  const outcome = await bot.run({
    id,
    command: 'schedule',
    subcommand,
    options,
    address: HERE,
    person: ADA,
    ...more,
  });
  if (outcome.type !== 'message' || outcome.visibility !== 'person') throw new Error(JSON.stringify(outcome));
  return outcome.message;
}

const limits = (subcommand: string, options: Invocation['options']) =>
  schedule(subcommand, { ...options, where: 'server' }, { command: 'limits', person: MOD });

const add = (when: string, prompt = 'a tune for rain', more: Partial<Invocation> = {}) =>
  schedule('add', { what: 'song', when, prompt }, more);
const textOf = async (message: Promise<Message>) => ((await message).text ?? '').replaceAll('\\', '');
const isListed = (prompt: string) => expect.poll(() => textOf(schedule('show'))).toContain(prompt);
const songs = () => world.gateway.taken.filter(({ route }) => route === 'music.generate');

/** Advances the clock to a time, such as `2023-11-15T09:00Z`. */
const advanceTo = (time: string) => world.clock.advance(Date.parse(time) - world.clock.now());

test('runs the scheduled command every day in its channel', async () => {
  expect(await textOf(add('every day at 9:00'))).toContain(
    '**Song** “a tune for rain”\nEvery day at 09:00 · next on [Wed, 15 Nov 2023, 09:00](time:1700038800000) · by Ada',
  );
  advanceTo('2023-11-15T08:59Z');
  await isListed('Wed, 15 Nov 2023');
  expect(songs()).toHaveLength(0);
  advanceTo('2023-11-15T09:00Z');
  await expect.poll(songs).toHaveLength(1);
  await isListed('Thu, 16 Nov 2023, 09:00');
  advanceTo('2023-11-16T09:00Z');
  await expect.poll(songs).toHaveLength(2);
  const jobs = await Array.fromAsync(world.storage.jobs.all());
  expect(jobs.map(({ address, person: { id } }) => [address.channel, id])).toEqual([
    ['channel', 'ada'],
    ['channel', 'ada'],
  ]);
});

test('creates only one job for an occurrence that runs twice', async () => {
  await add('every day at 9:00');
  const store = createScheduleStore(world.storage);
  const key = store.keyOf(HERE);
  const before = await store.read(key);
  advanceTo('2023-11-15T09:00Z');
  await expect.poll(songs).toHaveLength(1);
  await isListed('Thu, 16 Nov 2023');
  // As after a crash between the request and the record of it.
  await world.storage.settings.set(key, before);
  await schedules.run(bot)(key, { interrupted: true });
  expect(await Array.fromAsync(world.storage.jobs.all())).toHaveLength(1);
  await isListed('Thu, 16 Nov 2023');
});

test('does not report a run as missed because the next one failed', async () => {
  await add('every day at 9:00');
  await add('every day at 9:00', 'a march');
  await world.jobs.stop();
  advanceTo('2023-11-15T09:00Z');
  const key = createScheduleStore(world.storage).keyOf(HERE);
  const failing = async (invocation: Invocation) => {
    if (invocation.options.prompt === 'a march') throw new Error('storage is down');
    return bot.run(invocation);
  };
  await expect(schedules.run({ run: failing })(key, { interrupted: false })).rejects.toThrow(
    'storage is down',
  );
  advanceTo('2023-11-15T09:20Z');
  await schedules.run(bot)(key, { interrupted: true });
  expect(world.platform.history.map(({ title }) => title)).toEqual(['Scheduled song: a march']);
});

test('deletes a single run when it is done', async () => {
  await add('tomorrow at 9:00');
  advanceTo('2023-11-15T09:00Z');
  await expect.poll(songs).toHaveLength(1);
  await isListed('Nothing is scheduled here');
});

test('reports a run missed while offline instead of running it late', async () => {
  await add('every day at 9:00');
  await add('tomorrow at 9:00', 'a march');
  await world.jobs.stop();
  advanceTo('2023-11-15T12:00Z');
  await run();
  await expect.poll(() => world.platform.history.length).toBe(2);
  const [daily, single] = world.platform.history;
  expect(daily?.title).toBe('Scheduled song: a tune for rain');
  expect(daily?.text).toBe(
    'I was offline at the scheduled time (Wed, 15 Nov 2023, 09:00), so I skipped this run. The next run is still scheduled.',
  );
  expect(single?.text).toContain(String.raw`To run it now, use \/song prompt\:a march`);
  expect(songs()).toHaveLength(0);
  await isListed('Thu, 16 Nov 2023, 09:00');
  await expect.poll(() => textOf(schedule('show'))).not.toContain('a march');
});

test('explains in the channel why a run was refused', async () => {
  await add('every day at 9:00');
  await limits('set', { what: 'song', most: 0 });
  world.platform.failures.push(new PlatformError('unavailable', 'down'));
  advanceTo('2023-11-15T09:00Z');
  // The first post failed, and the schedule repeats it.
  await expect.poll(() => world.clock.timers).toBeGreaterThan(0);
  await expect
    .poll(() => {
      world.clock.advance(1_000);
      return world.message()?.title;
    })
    .toBe('Scheduled song: a tune for rain');
  expect(world.message()?.text).toContain('limit');
  expect(songs()).toHaveLength(0);
  await isListed('Thu, 16 Nov 2023');
});

test('explains it in a direct message if the channel is gone', async () => {
  await add('tomorrow at 9:00');
  await limits('deny', { what: 'schedule' });
  world.platform.failures.push(new PlatformError('gone', 'the channel was deleted'));
  advanceTo('2023-11-15T09:00Z');
  await expect.poll(() => world.platform.privateMessages).toHaveLength(1);
  expect(world.platform.privateMessages[0]?.text).toContain('schedule');
  expect(songs()).toHaveLength(0);
});

test('pauses, resumes and removes schedules by number, ID and button', async () => {
  await add('every day at 9:00');
  const { actions = [] } = await schedule('show');
  expect(actions.map(({ label }) => label)).toEqual(['Pause 1', 'Remove 1']);
  const [pause, remove] = actions.flatMap((each) => (each.type === 'action' ? [each.id] : []));
  const press = (id = '') => {
    const [, action = '', job = ''] = /\.(\w+):(\w+):/.exec(id) ?? [];
    return schedule('', {}, { action: { name: action, job, index: 0 } });
  };
  expect(await textOf(press(pause))).toContain('Paused “a tune for rain”');
  advanceTo('2023-11-15T09:01Z');
  await isListed('paused');
  expect(songs()).toHaveLength(0);
  expect(await textOf(schedule('resume', { schedule: '1' }))).toContain('Thu, 16 Nov 2023, 09:00');
  expect(await textOf(press(remove))).toBe('Removed “a tune for rain”.');
  expect(await textOf(press(remove))).toContain('no such schedule');
});

test('lets only its owner and moderators change a schedule', async () => {
  await add('every day at 9:00');
  const bob = { person: person('bob') };
  expect(await textOf(schedule('remove', { schedule: '1' }, bob))).toBe(
    'Only Ada or a moderator can change this schedule.',
  );
  const elsewhere = { ...bob, address: { ...HERE, channel: 'private' } };
  expect(await textOf(schedule('show', {}, elsewhere))).toContain('Nothing is scheduled here');
  expect(await textOf(schedule('remove', { schedule: '1' }, { person: MOD }))).toContain('Removed');
});

test('limits the schedules of a person and of a server', async () => {
  for (let count = 1; count <= 5; count += 1) await add('every day at 9:00');
  expect(await textOf(add('every day at 9:00'))).toContain('You already have 5 schedules here.');
  for (const name of ['bob', 'cid', 'dan', 'eve'])
    for (let count = 1; count <= 5; count += 1)
      await add('every day at 9:00', 'a march', { person: person(name) });
  expect(await textOf(add('every day at 9:00', 'a march', { person: person('fay') }))).toContain(
    'There are already 25 schedules here.',
  );
});

test('refuses commands that the person may not use, and prompts that are too long', async () => {
  await limits('deny', { what: 'song' });
  expect(await textOf(add('every day at 9:00'))).toContain('/song');
  const long = schedule('add', { what: 'video', when: 'tomorrow at 9:00', prompt: 'x'.repeat(2_900) });
  expect(await textOf(long)).toContain('too long');
  await isListed('Nothing is scheduled here');
});

test('keeps the hour of all schedules when the time zone changes', async () => {
  await add('every day at 9:00');
  expect(await textOf(schedule('zone', { zone: 'Europe/Berlin' }))).toContain('Only moderators');
  expect(await textOf(schedule('zone', { zone: 'Berlin' }, { person: MOD }))).toContain('Europe/Berlin');
  expect(await textOf(schedule('zone', { zone: 'Europe/Berlin' }, { person: MOD }))).toContain(
    'Europe/Berlin',
  );
  await isListed('09:00');
  advanceTo('2023-11-15T08:00Z');
  await expect.poll(songs).toHaveLength(1);
});

test('keeps the time of a single run that would be in the past in the new time zone', async () => {
  // It is 22:13 in UTC and 00:13 in Kyiv, where 23:00 has passed.
  await add('at 23:00');
  await schedule('zone', { zone: 'Europe/Kyiv' }, { person: MOD });
  await isListed('Once · [Wed, 15 Nov 2023, 01:00]');
  advanceTo('2023-11-14T23:00Z');
  await expect.poll(songs).toHaveLength(1);
  await isListed('Nothing is scheduled here');
});

test('erases the schedules of a person who asks to be forgotten', async () => {
  await add('every day at 9:00');
  await add('every day at 9:00', 'a march', { person: person('bob') });
  await bot.run({
    id: 'forget',
    command: 'minstrel',
    subcommand: 'forget',
    options: { confirm: true },
    address: HERE,
    person: ADA,
  });
  expect(await textOf(schedule('show'))).not.toContain('a tune for rain');
  await isListed('a march');
});

test('sets the timers of schedules restored from a backup', async () => {
  await add('every day at 9:00');
  await using restored = await createWorld();
  const [key] = await Array.fromAsync(world.storage.settings.keys('schedules:'));
  await restored.storage.settings.set(key ?? '', await world.storage.settings.get(key ?? ''));
  const runner = createSchedulesOn(restored, administered);
  const timers = createTimers({ schedules: runner.run(createBotOn(restored, { administered })) }, restored);
  await restored.jobs.run(bot.run, timers);
  await timers.setAll();
  await expect.poll(() => restored.clock.next).toBeDefined();
  restored.clock.advance(Date.parse('2023-11-15T09:00Z') - restored.clock.now());
  await expect.poll(() => restored.gateway.taken).toHaveLength(1);
  await restored.jobs.stop();
});
