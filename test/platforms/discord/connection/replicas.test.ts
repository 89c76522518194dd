import { EventEmitter } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/util/clock.ts';
import type { WithLock } from '../../../../src/core/util/lock.ts';
import { createLocks, localLeases } from '../../../../src/storage/locks.ts';
import { StorageError } from '../../../../src/storage/storage.ts';
import { type Harness, type HarnessOptions, StoredPost, startHarness } from '../harness.ts';

/** Several adapters in one process act as replicas of a bot. */
let harness: Harness | undefined;

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

/** Creates a lock that the replicas share. */
function sharedLock() {
  const leases = localLeases(systemClock.elapsed);
  const topics = new EventEmitter();
  const state = { isDown: false };
  let holders = 0;
  const withLock = createLocks({
    leases: {
      ...leases,
      take: async (...request) => {
        if (state.isDown) throw new StorageError('unavailable', 'down');
        return await leases.take(...request);
      },
    },
    notifications: {
      publish: async (topic) => void topics.emit(topic),
      subscribe: (topic, listener) => {
        topics.on(topic, listener);
        return () => topics.off(topic, listener);
      },
    },
    clock: systemClock,
    newId: () => `holder ${++holders}`,
  });
  return { withLock, state };
}

const registered = ({ discord }: Harness) =>
  discord.until(() => discord.registrations.count > 0, 'the commands to be registered');

async function start(withLock: WithLock, options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness({ idle: true, adapter: () => ({ withLock }), ...options });
  return harness;
}

it('connects one replica, and another when the first stops', async () => {
  harness = await start(sharedLock().withLock);
  const { discord, bot, platform, another } = harness;
  await platform.start(bot);
  await registered(harness);
  const other = await another();
  await other.start(bot);
  expect([platform, other].map((one) => one.status())).toEqual([{ ready: true }, { ready: true }]);
  expect([platform, other].map((one) => one.connections?.())).toEqual([1, 0]);
  expect((await discord.command({ name: 'song', options: { prompt: 'rain' } }).response()).content).toBe(
    'Done.',
  );
  expect(bot.invocations).toHaveLength(1);

  const stoppedAt = performance.now();
  await platform.stop();
  await expect.poll(() => other.connections?.(), { interval: 10 }).toBe(1);
  // Before the lock of the first expires.
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  await discord.until(() => discord.gateway.connected === 1, 'one connection');
  expect((await discord.command({ name: 'song', options: { prompt: 'snow' } }).response()).content).toBe(
    'Done.',
  );
  expect(bot.invocations).toHaveLength(2);
  expect(discord.refused).toEqual([]);
});

it('posts messages from a standby replica', async () => {
  const { discord, bot, platform, another } = await start(sharedLock().withLock);
  await platform.start(bot);
  const other = await another();
  await other.start(bot);
  const { channel, guild, user } = discord;
  const address = { platform: 'discord', channel: channel.id, guild: guild.id, person: user.id };
  await other.show(address, { text: 'Here' }, new StoredPost('j'));
  expect(discord.botMessages().map(({ content }) => content)).toEqual(['Here']);
  expect(await other.isPublic?.(address)).toBe(true);
  channel.deniedToPeople.add('ViewChannel');
  expect(await other.isPublic?.(address)).toBe(false);
  expect(discord.refused).toEqual([]);
});

it('connects configured shards from the replicas that list them', async () => {
  const { withLock } = sharedLock();
  let ids = 0;
  const { discord, bot, platform, another } = await start(withLock, {
    shards: 2,
    adapter: () => ({ withLock, shards: { ids: [ids++ % 2], total: 2 } }),
  });
  const otherReplicas = [await another(), await another()];
  for (const one of [platform, ...otherReplicas]) await one.start(bot);
  await expect.poll(() => discord.gateway.shards).toEqual([0, 1]);
  expect([platform, ...otherReplicas].map((one) => one.connections?.())).toEqual([1, 1, 0]);
});

it('closes the connection and drops its events when a replica loses its lock', async () => {
  const lost = new AbortController();
  let isHeld = true;
  let times = 0;
  harness = await start((_task, work, { onWaiting } = {}) => {
    if (times++ === 0) return work({ lost: lost.signal, isHeld: () => isHeld });
    onWaiting?.();
    return new Promise(() => {});
  });
  const { discord, bot, platform } = harness;
  await platform.start(bot);
  await registered(harness);
  // The process was suspended, so the events are older than its lock.
  isHeld = false;
  discord.command({ name: 'song', options: { prompt: 'rain' } });
  discord.mention({ text: 'are you there?' });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(bot.invocations).toEqual([]);
  lost.abort();
  await expect.poll(() => discord.gateway.connected).toBe(0);
  await expect.poll(() => platform.status()).toEqual({ ready: true });
  harness = undefined;
  await discord.close();
});

it('reports that storage is down, and connects when it is back', async () => {
  const { withLock, state } = sharedLock();
  state.isDown = true;
  const { bot, platform } = await start(withLock);
  await platform.start(bot);
  expect(platform.status()).toMatchObject({ ready: false, reason: expect.stringContaining('storage') });
  state.isDown = false;
  await expect.poll(() => platform.connections?.(), { timeout: 5_000 }).toBe(1);
});
