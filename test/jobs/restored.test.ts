/** Tests jobs that were open in a backup and are continued by another deployment in the same channels. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Job } from '../../src/core/job.ts';
import { transition } from '../../src/jobs/transitions.ts';
import { createWorld, SONG, songCallback, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const failure = {
  code: 'restored',
  sentence: 'I was restored.',
  reference: 'ref',
  taken: 'unknown',
} as const;
const words = () => JSON.stringify([...world.platform.shown.values()]);
const HOUR = 3_600_000;

/** Stores a record as restored. */
async function restoreRecord(record: Job): Promise<void> {
  await world.storage.jobs.erase(record.id);
  await world.storage.jobs.create(transition(record, { type: 'restored', failure }));
}

it('a job that was not submitted is not sent, and fails with a message', async () => {
  const job = await world.start(SONG);
  await restoreRecord(await world.read(job));
  await world.advance(job);
  expect(world.gateway.taken).toEqual([]);
  expect(words()).toContain('I was restored.');
  expect(words()).toMatch(/already have the result.*Again/);
  expect(await world.read(job)).toMatchObject({ state: 'failed', charged: true, chargeUncertain: true });
});

it('a job submitted before the backup delivers its result into its message, paid once', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await restoreRecord(await world.read(job));
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  expect(world.gateway.taken).toHaveLength(1);
  expect(world.platform.shown.size).toBe(1);
  expect(words()).toContain('one.mp3');
});

it('a job delivered after the backup stays unchanged, without a failure', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  const backup = await world.read(job);
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  const delivered = words();
  expect(delivered).toContain('one.mp3');
  await restoreRecord(backup);
  world.clock.advance(HOUR);
  await world.advance(job);
  expect(words()).toBe(delivered);
  expect(await world.read(job)).toMatchObject({ state: 'expired' });
});

it('an unfinished job whose message still shows progress fails with a message', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await restoreRecord(await world.read(job));
  world.clock.advance(HOUR);
  await world.advance(job);
  expect(world.platform.shown.size).toBe(1);
  expect(words()).toMatch(/already have the result.*Again/);
});
