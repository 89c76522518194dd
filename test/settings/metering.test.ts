import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { RESERVATION_MS } from '../../src/settings/limits.ts';
import { gatewayError } from '../jobs/scripted-gateway.ts';
import { createWorld, PICTURE, SONG, songCallback, type World } from '../jobs/world.ts';
import { type Administered, administer } from './administration.ts';
import { ADA, HERE, MOD } from './places.ts';

const DAY = 24 * 3_600_000;

let world: World;
let house: Administered;

beforeEach(async () => {
  world = await createWorld();
  house = administer(world);
  await house.moderation(HERE, MOD).limits.set({ scope: 'person', per: 'day', of: 'requests', most: 1 });
});
afterEach(() => world[Symbol.asyncDispose]());

const used = async () => (await house.meter.inForce(HERE, ADA))[0]?.used;
const settled = async () => {
  const days = await world.storage.usage.days({ platform: 'discord', guild: 'guild' }, '2000-01-01');
  return days.reduce((sum, { requests }) => sum + requests, 0);
};

describe('a request counts', () => {
  test('from its acceptance, and a second one is refused before anything is stored', async () => {
    await world.start(SONG);
    expect(await used()).toBe(1);
    await expect(world.start(SONG)).rejects.toThrow('The limit is reached: 1 request per person and day');
    expect(await world.jobs.running(HERE, 'ada')).toHaveLength(1);
  });

  test('once, when the platform sends the same event twice', async () => {
    await world.start(SONG, { id: 'the-same' });
    await world.start(SONG, { id: 'the-same' });
    expect(await used()).toBe(1);
  });

  test('for good when its result is there, and for its day', async () => {
    const job = await world.start(SONG);
    await world.look(job);
    await world.callback(job, songCallback('complete'));
    await world.look(job);
    expect((await world.read(job)).state).toBe('delivered');
    world.clock.advance(RESERVATION_MS + 1);
    expect(await used()).toBe(1);
    expect(await settled()).toBe(1);
    await expect(world.start(SONG)).rejects.toThrow('limit is reached');
  });

  test('no more when it failed: there is room at once', async () => {
    const job = await world.start(PICTURE);
    world.gateway.replies.push(gatewayError('blocked'));
    await world.look(job);
    expect((await world.read(job)).state).toBe('failed');
    expect(await used()).toBe(0);
    expect(await settled()).toBe(0);
    await world.start(SONG);
  });

  test('no more when it was cancelled before the gateway had it', async () => {
    const job = await world.start(SONG);
    await world.jobs.cancel(job, 'ada');
    await world.look(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(await used()).toBe(0);
  });

  test('all the same when it was cancelled after that: it is paid for', async () => {
    const job = await world.start(SONG);
    await world.look(job);
    await world.jobs.cancel(job, 'ada');
    await world.look(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(await used()).toBe(1);
    expect(await settled()).toBe(1);
  });

  test('no more when it expired, and again when its result comes late', async () => {
    const job = await world.start(SONG);
    await world.look(job);
    world.clock.advance(DAY / 4);
    await world.look(job);
    expect((await world.read(job)).state).toBe('expired');
    expect(await used()).toBe(0);
    await world.callback(job, songCallback('complete'));
    await world.look(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(await used()).toBe(1);
    expect(await settled()).toBe(1);
  });
});

test('a crash between reserving and storing gives back after its time', async () => {
  const jobs: Jobs = createJobs({
    ...world.dependencies,
    storage: {
      ...world.storage,
      jobs: Object.create(world.storage.jobs, {
        create: {
          value: () => {
            throw new TypeError('the process died here');
          },
        },
      }),
    },
  });
  const invocation = { id: 'lost', command: 'song', options: {}, address: HERE, person: ADA };
  await expect(jobs.start(SONG, invocation)).rejects.toThrow('died');
  expect(await used()).toBe(1);
  await expect(world.start(SONG)).rejects.toThrow('limit is reached');
  world.clock.advance(RESERVATION_MS);
  await world.start(SONG);
});

test('a crash anywhere between the result and the end of delivery counts once', async () => {
  const job = await world.start(SONG);
  await world.look(job);
  await world.callback(job, songCallback('complete'));
  const dying = createWorldThatDies(3);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await dying.look(job).catch(() => undefined);
  }
  await world.look(job);
  expect((await world.read(job)).state).toBe('delivered');
  expect(await settled()).toBe(1);
  expect(await used()).toBe(1);
});

/** The same world, whose platform dies the first times that it shows something. */
function createWorldThatDies(times: number): Pick<World, 'look'> {
  let left = times;
  world.platform.crash = () => {
    if (left <= 0) return;
    left -= 1;
    throw new TypeError('the process died here');
  };
  return { look: world.look };
}
