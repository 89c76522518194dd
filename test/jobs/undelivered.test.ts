import { afterEach, beforeEach, expect, it } from 'vitest';
import { jobs as jobsCommand } from '../../commands/jobs.ts';
import type { Context } from '../../src/core/bot/context.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { Address } from '../../src/core/invocation.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { gatewayError } from './scripted-gateway.ts';
import { createWorld, SONG, songCallback, type World } from './world.ts';

/** Tests results whose channel is gone and whose requester accepts no direct messages: they are stored until requested. */
let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const ELSEWHERE: Address = { platform: 'discord', guild: 'other guild', channel: 'elsewhere', person: 'ada' };

async function undelivered(): Promise<string> {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new PlatformError('gone', 'channel deleted'));
  world.platform.privateFailures.push(new PlatformError('gone', 'no direct messages'));
  await world.advance(job);
  return job;
}

/** The reply of /jobs to Ada. */
async function list(): Promise<Extract<Outcome, { type: 'message' }>['message']> {
  // /jobs uses nothing else of the context.
  const context = {
    now: world.clock.now,
    jobs: {
      running: () => world.storage.jobs.running(ELSEWHERE, 'ada'),
      undelivered: (limit: number) => world.storage.jobs.undelivered(ELSEWHERE.platform, 'ada', limit),
    },
  } as unknown as Context;
  const invocation = {
    id: 'event',
    command: 'jobs',
    options: {},
    address: ELSEWHERE,
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
  };
  const outcome = await jobsCommand.run(invocation, context);
  if (outcome.type !== 'message') throw new TypeError(`/jobs answered with ${outcome.type}`);
  return outcome.message;
}

it('is stored, and listed by /jobs anywhere', async () => {
  const job = await undelivered();
  expect((await world.read(job)).state).toBe('delivered');
  world.clock.advance(3 * 60 * 60_000);
  const { text, actions } = await list();
  expect(text).toContain("couldn't deliver");
  expect(text).toContain('Composing “rain”');
  expect(text).toContain('3 hours ago');
  expect(actions).toMatchObject([{ id: `song.show:${job}:0`, label: 'Show 1 here' }]);
});

it('is posted at the requested place once, and no longer listed', async () => {
  const job = await undelivered();
  expect((await world.jobs.showAt(job, ELSEWHERE, 'ada'))?.type).toBe('accepted');
  await world.advance(job);
  expect(world.message()?.title).toBe('Rain');
  expect((await world.read(job)).address).toEqual(ELSEWHERE);
  expect(await world.jobs.showAt(job, ELSEWHERE, 'ada'), 'it was already delivered').toBeUndefined();
  expect((await list()).actions).toBeUndefined();
});

it('stays listed if that channel is closed as well', async () => {
  const job = await undelivered();
  await world.jobs.showAt(job, ELSEWHERE, 'ada');
  world.platform.failures.push(new PlatformError('gone', 'gone'));
  world.platform.privateFailures.push(new PlatformError('gone', 'gone'));
  await world.advance(job);
  expect((await list()).actions).toHaveLength(1);
});

it('is no longer offered once its late result was delivered to the channel', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  world.clock.advance(31 * 60_000);
  world.platform.failures.push(new PlatformError('gone', 'channel closed'));
  world.platform.privateFailures.push(new PlatformError('gone', 'no direct messages'));
  await world.advance(job);
  expect((await list()).actions).toHaveLength(1);
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  expect(world.message()?.media).toHaveLength(3);
  expect((await list()).actions).toBeUndefined();
  expect(await world.jobs.showAt(job, ELSEWHERE, 'ada')).toBeUndefined();
});

it('is no longer offered once its cancelled result was revealed in the channel', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.jobs.cancel(job, 'ada');
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new PlatformError('gone', 'channel closed'));
  world.platform.privateFailures.push(new PlatformError('gone', 'no direct messages'));
  await world.advance(job);
  expect((await list()).actions).toHaveLength(1);
  await world.jobs.reveal(job);
  await world.advance(job);
  expect((await list()).actions).toBeUndefined();
});

it('is not available to other people', async () => {
  const job = await undelivered();
  expect(await world.jobs.showAt(job, ELSEWHERE, 'eve')).toBeUndefined();
  expect(await world.storage.jobs.undelivered(ELSEWHERE.platform, 'eve', 5)).toEqual([]);
});

it('an undeliverable failure message is stored in the same way', async () => {
  world.gateway.replies.push(gatewayError('credits'));
  const job = await world.start(SONG);
  let shown = 0;
  world.platform.crash = (point) => {
    if (point !== 'before show') return;
    shown += 1;
    if (shown === 2) throw new PlatformError('gone', 'channel deleted');
  };
  world.platform.privateFailures.push(new PlatformError('gone', 'no direct messages'));
  await world.advance(job);
  expect((await list()).text).toContain('failed');
  await world.jobs.showAt(job, ELSEWHERE, 'ada');
  await world.advance(job);
  expect(world.message()?.text).toContain('out of credits');
  expect((await world.read(job)).state).toBe('failed');
});

it('a result is stored after its platform was unavailable for a week', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  for (let next: number | undefined = 0; next !== undefined; ) {
    world.platform.failures.push(
      new PlatformError('unavailable', 'away'),
      new PlatformError('unavailable', 'away'),
    );
    next = await world.advance(job);
    world.clock.advance(12 * 60 * 60_000);
  }
  expect((await list()).actions).toHaveLength(1);
});

it('a result that cannot be rendered ends in an error message at the first try', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new RangeError('Maximum call stack size exceeded'));
  expect(await world.advance(job)).toBeUndefined();
  expect(world.message()?.text).toContain('Something went wrong on my side');
  expect((await world.read(job)).state).toBe('delivered');
});

it('a result whose error message cannot be shown either is offered by /jobs', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new RangeError('too deep'), new RangeError('too deep'));
  await world.advance(job);
  expect((await list()).actions).toHaveLength(1);
});

it('work whose progress cannot be rendered is not started, and fails with a message', async () => {
  const job = await world.start(SONG);
  world.platform.failures.push(new RangeError('too deep'));
  await world.advance(job);
  expect(world.message()?.text).toContain('Something went wrong on my side');
  expect(world.gateway.taken).toEqual([]);
});
