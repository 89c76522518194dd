import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Channel, type DiscordServer, startDiscord } from '../../../../servers/discord/index.ts';
import { PROGRAM_ENVIRONMENT } from '../../../../servers/program.ts';
import { connectRedis, noRedis, type RedisServer, startRedisServer } from '../../../../servers/redis.ts';

const SHARDS = 4;
const LEASE = 4_000;
const ALREADY_ACKNOWLEDGED = 40_060;
const PROGRAM = fileURLToPath(new URL('../shard-replica.ts', import.meta.url));

interface Replica {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly name: string;
  /** Whether the command with this mark reached it. */
  readonly saw: (mark: string) => boolean;
}

/** Replicas as processes, on a strict Discord and a real Redis. One bot goes through all of it. */
describe.runIf(noRedis === undefined)(noRedis ?? 'shards that replicas share', () => {
  let discord: DiscordServer;
  let redis: RedisServer;
  let client: Awaited<ReturnType<typeof connectRedis>>;
  /** A channel of each shard. */
  const channels = new Map<number, Channel>();
  const running: Replica[] = [];

  beforeAll(async () => {
    discord = await startDiscord({ shards: SHARDS, responseDeadlineMs: 60_000 });
    discord.gateway.identifyEveryMs = 5_000;
    redis = await startRedisServer();
    client = await connectRedis(redis.url);
    const shardOf = (guild: string) => Number((BigInt(guild) >> 22n) % BigInt(SHARDS));
    channels.set(shardOf(discord.guild.id), discord.channel);
    while (channels.size < SHARDS) {
      await sleep(1);
      const guild = discord.world.addGuild('Guild');
      channels.set(shardOf(guild.id), discord.world.addChannel('music', { guildId: guild.id }));
    }
  });
  afterAll(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    client.destroy();
    await discord.close();
    await redis.dispose();
  });

  async function start(): Promise<Replica> {
    const options = { token: discord.token, apiUrl: discord.apiUrl, redisUrl: redis.url, leaseMs: LEASE };
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    const named = () => lines.find((line) => line.startsWith('name '))?.slice('name '.length);
    await expect.poll(() => named() ?? lines).toBeTypeOf('string');
    const replica = {
      child,
      lines,
      name: named() ?? '',
      saw: (mark: string) => lines.includes(`seen ${mark}`),
    };
    running.push(replica);
    return replica;
  }

  /** So many, each with its share. */
  async function living(count: 1): Promise<[Replica]>;
  async function living(count: 2): Promise<[Replica, Replica]>;
  async function living(count: 3): Promise<[Replica, Replica, Replica]>;
  async function living(count: number): Promise<readonly Replica[]> {
    const live = () => running.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    await Promise.all(Array.from({ length: count - live().length }, start));
    const shares = Array.from({ length: count }, (_, index) => Math.floor((SHARDS + index) / count));
    await expect
      .poll(async () => {
        const of = await holders();
        return {
          shards: discord.gateway.shards,
          counts: live()
            .map((one) => of(one).length)
            .sort(),
        };
      })
      .toEqual({ shards: [0, 1, 2, 3], counts: shares });
    // Others can take every session over.
    await expect.poll(() => client.hLen('minstrel:leases:discord%20shards:notes')).toBe(SHARDS);
    return live();
  }

  /** Shards by the name of their holder, and how many are connected. */
  async function holders() {
    const all = await client.hGetAll('minstrel:leases:discord%20shards:holders');
    const byName = Map.groupBy(Object.entries(all), ([, name]) => name);
    return (replica: Replica) => (byName.get(replica.name) ?? []).map(([shard]) => Number(shard));
  }

  const untilShared = (...expected: readonly [Replica, number][]) =>
    expect
      .poll(async () => {
        const of = await holders();
        return { shards: discord.gateway.shards, counts: expected.map(([replica]) => of(replica).length) };
      })
      .toEqual({ shards: [0, 1, 2, 3], counts: expected.map(([, count]) => count) });

  let asked = 0;
  function ask(shard: number) {
    asked += 1;
    const mark = `rain ${asked}`;
    const handle = discord.command({ name: 'song', options: { prompt: mark }, channel: channelOf(shard) });
    return { mark, response: () => handle.response() };
  }

  function channelOf(shard: number): Channel {
    const channel = channels.get(shard);
    if (!channel) throw new RangeError(`No channel belongs to shard ${shard}`);
    return channel;
  }

  /** Every shard answers, and one replica alone sees each command. */
  async function allAnswer(): Promise<void> {
    const all = [0, 1, 2, 3].map(ask);
    for (const one of all) expect((await one.response()).content).toBe('Done.');
    for (const { mark } of all) expect(running.filter(({ saw }) => saw(mark))).toHaveLength(1);
  }

  it('each of three has its share, and every shard is held once', async () => {
    await living(3);
    await allAnswer();
    expect(discord.gateway.identifiedTooSoon).toEqual([]);
  });

  it('what one that is killed held goes on with others after its lease: nothing that was said meanwhile is lost', async () => {
    const [a, b, c] = await living(3);
    const [identifies, of] = [discord.gateway.identifies, await holders()];
    const [orphan = Number.NaN] = of(b);
    b.child.kill('SIGKILL');
    await once(b.child, 'exit');
    const one = ask(orphan);
    expect((await one.response()).content).toBe('Done.');
    await untilShared([a, 2], [c, 2]);
    expect(discord.gateway.identifies, 'sessions are resumed').toBe(identifies);
    await allAnswer();
  });

  it('what one that is stopped held is free at once', async () => {
    const [a, c] = await living(2);
    const identifies = discord.gateway.identifies;
    c.child.kill('SIGTERM');
    await once(c.child, 'exit');
    expect(c.lines).toContain('closed');
    expect((await holders())(c)).toEqual([]);
    await untilShared([a, 4]);
    expect(discord.gateway.identifies).toBe(identifies);
    await allAnswer();
  });

  it('one that is added gets its share', async () => {
    const [a] = await living(1);
    const identifies = discord.gateway.identifies;
    const d = await start();
    await untilShared([a, 2], [d, 2]);
    expect(discord.gateway.identifies).toBe(identifies);
    await allAnswer();
  });

  it('one that was suspended for longer than its lease handles nothing of what others took over', async () => {
    const [a, d] = await living(2);
    const [shard = Number.NaN] = (await holders())(a);
    a.child.kill('SIGSTOP');
    const one = ask(shard);
    // Discord does not tell whether a message was answered.
    discord.mention({ text: 'and snow', channel: channelOf(shard) });
    await untilShared([d, 4]);
    expect((await one.response()).content).toBe('Done.');
    await expect.poll(() => d.saw('and snow')).toBe(true);
    a.child.kill('SIGCONT');
    await expect.poll(() => a.lines.join()).toContain('has taken a shard over');
    await untilShared([a, 2], [d, 2]);
    expect([a.saw(one.mark), d.saw(one.mark)]).toEqual([false, true]);
    expect(a.saw('and snow')).toBe(false);
    await allAnswer();
  });

  it('while Redis is away each keeps what it holds, answers, and goes on with it afterwards', async () => {
    const [a, d] = await living(2);
    const resumes = discord.gateway.resumes;
    await redis.kill();
    await expect
      .poll(() => [a, d].every(({ lines }) => lines.some((line) => line.includes('could not be renewed'))))
      .toBe(true);
    // Longer than their leases.
    await sleep(LEASE);
    await allAnswer();
    expect(discord.gateway.shards).toEqual([0, 1, 2, 3]);
    await redis.start();
    await untilShared([a, 2], [d, 2]);
    await allAnswer();
    expect(discord.gateway.resumes).toBe(resumes);
    // What a replica answered in its last moments is sent to the next holder again, and Discord takes one answer.
    expect(discord.refused.filter(({ code }) => code !== ALREADY_ACKNOWLEDGED)).toEqual([]);
  });
});
