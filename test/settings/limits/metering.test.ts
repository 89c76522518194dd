import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobs } from '../../../src/jobs/jobs.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { gatewayError } from '../../jobs/scripted-gateway.ts';
import { createWorld, PICTURE, SONG, songCallback, type World } from '../../jobs/world.ts';
import { usageDays } from '../../storage/usage-days.ts';
import { rule } from '../access/rules.ts';
import { type Administered, administer } from '../administration.ts';
import { ADA, HERE, MOD, NOTHING_DECIDED } from '../samples.ts';

const DAY = 24 * 3_600_000;

let world: World;
let administered: Administered;

beforeEach(async () => {
  world = await createWorld();
  administered = administer(world);
  await administered.moderation(HERE, MOD).rules.set(rule('limit everyone all 1'), 'server');
});
afterEach(() => world[Symbol.asyncDispose]());

const used = async () => (await administered.limitsInForce(HERE, ADA))[0]?.used;
const days = () => usageDays(world.storage.usage, { platform: 'discord', guild: 'guild' });
const settled = async () => (await days()).reduce((sum, { requests }) => sum + requests, 0);
const uncertain = async () => (await days()).reduce((sum, row) => sum + row.uncertain, 0);

describe('a request counts', () => {
  test('when accepted, and a second one is refused before anything is stored', async () => {
    await world.start(SONG);
    expect(await used()).toBe(1);
    await expect(world.start(SONG)).rejects.toThrow('Limit reached: 1 job per person per day');
    expect(await world.storage.jobs.running(HERE, 'ada')).toHaveLength(1);
  });

  test('once if the platform sends the same event twice', async () => {
    await world.start(SONG, { id: 'the-same' });
    await world.start(SONG, { id: 'the-same' });
    expect(await used()).toBe(1);
  });

  test('permanently and for its day when its result arrives', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    world.clock.advance(DAY - 1);
    expect(await used()).toBe(1);
    expect(await settled()).toBe(1);
    await expect(world.start(SONG)).rejects.toThrow('Limit reached');
  });

  test('no longer when it failed, so another is allowed immediately', async () => {
    const job = await world.start(PICTURE);
    world.gateway.replies.push(gatewayError('blocked'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('failed');
    expect(await used()).toBe(0);
    expect(await settled()).toBe(0);
    await world.start(SONG);
  });

  test('no longer when cancelled before it reached the gateway', async () => {
    const job = await world.start(SONG);
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(await used()).toBe(0);
  });

  test('even when cancelled after that, because it was paid for', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(await used()).toBe(1);
    expect(await settled()).toBe(1);
  });

  test('as uncertain when it expires, and as certain when a late result arrives', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    world.clock.advance(DAY / 4);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('expired');
    expect([await used(), await settled(), await uncertain()]).toEqual([1, 1, 1]);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect([await used(), await settled(), await uncertain()]).toEqual([1, 1, 0]);
  });

  test('as uncertain if the gateway may have accepted it', async () => {
    const job = await world.start(PICTURE);
    world.gateway.replies.push(gatewayError('timeout', { taken: 'unknown' }));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('failed');
    expect([await used(), await uncertain()]).toEqual([1, 1]);
    await expect(world.start(PICTURE)).rejects.toThrow('Limit reached');
  });

  test('as soon as the gateway may have accepted it, so a limit of one never buys three images', async () => {
    const answered = Promise.withResolvers<'taken'>();
    world.gateway.replies.push(answered.promise);
    const job = await world.start(PICTURE);
    const looking = world.advance(job);
    await expect.poll(async () => (await world.read(job)).state).toBe('submitting');
    await world.jobs.cancel(job, 'ada');
    await expect
      .poll(async () => {
        world.clock.advance(1_000);
        return (await world.read(job)).end;
      })
      .toBe('cancelled');
    expect(await used()).toBe(1);
    await expect(world.start(PICTURE)).rejects.toThrow('Limit reached');
    answered.resolve('taken');
    await looking;
    await world.advance(job);
    expect([await used(), await settled(), await uncertain()]).toEqual([1, 1, 0]);
  });

  test('while its job is open, however long it is queued', async () => {
    await world.start(SONG);
    world.clock.advance(DAY - 1);
    await expect(world.start(SONG)).rejects.toThrow('Limit reached');
  });

  test('no longer when cancelled while waiting to retry after a refusal of the gateway', async () => {
    const job = await world.start(PICTURE);
    world.gateway.replies.push(gatewayError('rate', { retryable: true, taken: 'no' }));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('accepted');
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect([await used(), await settled()]).toEqual([0, 0]);
  });
});

test('a request that could not be stored does not count', async () => {
  const accept = async () => {
    throw new StorageError('unavailable', 'Storage is away.');
  };
  const jobs = createJobs({ ...world.dependencies, storage: { ...world.storage, accept } });
  const invocation = { id: 'lost', command: 'song', options: {}, address: HERE, person: ADA };
  await expect(jobs.start(SONG, invocation, NOTHING_DECIDED)).rejects.toThrow(
    'I may not be able to start this',
  );
  expect(await used()).toBe(0);
  await world.start(SONG, { id: 'lost' });
  expect(await used()).toBe(1);
});

test('counts once despite a crash between the result and the end of delivery', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  const failing = createFailingWorld(3);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await failing.advance(job).catch(() => undefined);
  }
  await world.advance(job);
  expect((await world.read(job)).state).toBe('delivered');
  expect(await settled()).toBe(1);
  expect(await used()).toBe(1);
});

/** The same world with a platform that fails the first times that it shows something. */
function createFailingWorld(times: number): Pick<World, 'advance'> {
  let left = times;
  world.platform.crash = () => {
    if (left <= 0) return;
    left -= 1;
    throw new StorageError('unavailable', 'the process died here');
  };
  return { advance: world.advance };
}
