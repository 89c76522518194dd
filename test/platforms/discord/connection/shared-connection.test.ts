import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Replicas } from '../../../../src/core/replicas.ts';
import { openRedisStorage } from '../../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../../src/storage/schedule.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../../../servers/redis.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Discord's five seconds, in a test. */
const IDENTIFY_EVERY_MS = 100;
const ON_THE_WAY_MS = 60;

/** Adapters of one process as replicas of one bot, over a real Redis. */
describe.runIf(noRedis === undefined)(noRedis ?? 'replicas of one bot on Discord', () => {
  let redis: RedisServer;
  let storage: Storage;
  let harness: Harness | undefined;
  let tests = 0;

  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.dispose());
  beforeEach(async () => {
    tests += 1;
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    storage = await openRedisStorage({
      ...PATIENT,
      ...tools,
      url: redis.url,
      prefix: `test${tests}`,
      leaseMs: 4_000,
    });
  });
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
    await storage.close();
  });

  let names = 0;
  function anotherReplica(): Replicas {
    names += 1;
    const { replicas } = storage;
    if (!replicas) throw new TypeError('Redis is shared');
    const pass = (gate: string) => replicas.pass(gate, IDENTIFY_EVERY_MS + ON_THE_WAY_MS);
    return { ...replicas, name: `replica ${names}`, pass };
  }

  async function start(options: HarnessOptions): Promise<Harness> {
    harness = await startHarness({ idle: true, adapter: () => ({ replicas: anotherReplica() }), ...options });
    return harness;
  }

  it('of all their shards one identifies at a time, and as many as Discord allows', async () => {
    const { discord, platform, another, bot } = await start({ shards: 6 });
    discord.gateway.maxConcurrency = 2;
    discord.gateway.identifyEveryMs = IDENTIFY_EVERY_MS;
    const others = [await another(), await another()];
    await Promise.all([platform, ...others].map((one) => one.start(bot)));
    await expect.poll(() => discord.gateway.shards).toEqual([0, 1, 2, 3, 4, 5]);
    expect(discord.gateway.identifiedTooSoon).toEqual([]);
    await expect.poll(() => [platform, ...others].map((one) => one.connections?.())).toEqual([2, 2, 2]);
    expect(platform.status()).toEqual({ ready: true });
  });

  it('shards that settings name keep to the same order', async () => {
    const { discord, platform, another, bot } = await start({
      shards: 2,
      adapter: () => ({ replicas: anotherReplica(), shards: { ids: [names % 2], total: 2 } }),
    });
    discord.gateway.maxConcurrency = 1;
    discord.gateway.identifyEveryMs = IDENTIFY_EVERY_MS;
    const other = await another();
    await Promise.all([platform, other].map((one) => one.start(bot)));
    await expect.poll(() => discord.gateway.shards).toEqual([0, 1]);
    expect(discord.gateway.identifiedTooSoon).toEqual([]);
  });

  it('one that goes on with a session knows who may be answered there', async () => {
    const { discord, platform, another, bot } = await start({
      prepare: (server) => server.channel.deniedToPeople.add('UseApplicationCommands'),
    });
    await platform.start(bot);
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    const open = discord.world.addChannel('open', { guildId: discord.guild.id });
    await platform.close();
    const identifies = discord.gateway.identifies;
    // What is said while no replica is connected waits for the next one.
    discord.mention({ text: 'closed to commands' });
    discord.mention({ text: 'are you there?', channel: open });
    const next = await another();
    await next.start(bot);
    await expect
      .poll(() => bot.invocations.map(({ options }) => options.question))
      .toEqual(['are you there?']);
    expect(discord.gateway.identifies, 'the session is resumed').toBe(identifies);
    expect(next.status()).toEqual({ ready: true });
    const asked = () => discord.requests.filter((request) => request.includes(`/guilds/${discord.guild.id}`));
    expect(asked()).toHaveLength(3);
    discord.mention({ text: 'and now?', channel: open });
    await expect.poll(() => bot.invocations).toHaveLength(2);
    const voice = await next.voice?.();
    expect(await voice?.reach(discord.guild.id)).toBe('here');
    expect(asked(), 'it asks once').toHaveLength(3);
    expect(discord.refused).toEqual([]);

    expect(await voice?.channelOf(discord.guild.id, discord.user.id), 'in none').toBeUndefined();

    discord.gateway.beginOutage(discord.guild);
    await expect.poll(() => voice?.reach(discord.guild.id)).toBe('outage');

    // A session of its own tells what a resumed one does not, such as who is in a voice channel.
    const lounge = discord.world.addChannel('Lounge', { guildId: discord.guild.id, type: 2 });
    discord.voice.join(discord.user, lounge);
    discord.gateway.invalidate();
    await expect.poll(() => discord.gateway.identifies).toBe(identifies + 1);
    await expect.poll(() => voice?.listeners(discord.guild.id, lounge.id)).toEqual([discord.user.id]);
  });

  it('a session that Discord does not resume is begun anew', async () => {
    const { discord, platform, another, bot } = await start({});
    await platform.start(bot);
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    await platform.close();
    discord.gateway.invalidate();
    const next = await another();
    await next.start(bot);
    await expect.poll(() => discord.gateway.shards).toEqual([0]);
    await expect.poll(() => next.status()).toEqual({ ready: true });
    discord.mention({ text: 'hello' });
    await expect.poll(() => bot.invocations).toHaveLength(1);
  });

  it('a token that is refused is named', async () => {
    const { discord, platform, bot } = await start({});
    discord.gateway.token = 'another';
    await platform.start(bot);
    expect(platform.status()).toMatchObject({
      ready: false,
      reason: expect.stringContaining('the token was refused'),
    });
  });
});
