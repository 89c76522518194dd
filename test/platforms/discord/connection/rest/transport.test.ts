import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { proxyRequests } from '@discordjs/proxy';
import { REST } from 'discord.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Replicas } from '../../../../../src/core/replicas.ts';
import { createDiscordRest } from '../../../../../src/platforms/discord/connection/rest/rest.ts';
import {
  createRequestBudget,
  sendRequest,
} from '../../../../../src/platforms/discord/connection/rest/transport.ts';
import { textSending } from '../../../../../src/platforms/discord/deliver/payload.ts';
import { openRedisStorage } from '../../../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../../../src/storage/schedule.ts';
import type { Storage } from '../../../../../src/storage/storage.ts';
import { type DiscordServer, startDiscord } from '../../../../servers/discord/index.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../../../../servers/redis.ts';
import { RecordingLog } from '../../../../storage/recording-log.ts';

type Lessor = Pick<Replicas, 'take' | 'block'>;

const elapsed = () => performance.now();
const opened: { close(): void }[] = [];
const closing = new AbortController();
let discord: DiscordServer;

beforeAll(async () => {
  discord = await startDiscord();
});
afterEach(() => {
  for (const rest of opened.splice(0)) rest.close();
  discord.faults.clear();
});
afterAll(async () => {
  closing.abort();
  await discord.close();
});

/** Discord as a replica reaches it. */
function openRest(replicas?: Lessor) {
  const wait = (milliseconds: number) => sleep(milliseconds);
  const { limiting } = createRequestBudget({ replicas, elapsed, sleep: wait, signal: closing.signal });
  const { token, apiUrl } = discord;
  const rest = createDiscordRest({ token, apiUrl, makeRequest: limiting(sendRequest) });
  opened.push(rest);
  return rest;
}

/** When each of so many posts was made, each in a channel of its own, in milliseconds since the first. */
async function post(count: number, rests: readonly ReturnType<typeof openRest>[]): Promise<number[]> {
  const begunAt = elapsed();
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const channel = discord.world.addChannel(`c${index}`, { guildId: discord.guild.id });
      await rests[index % rests.length]?.post(channel.id, textSending('rain'), { nonce: `n${index}` });
      return elapsed() - begunAt;
    }),
  );
}

/** A second may end within the burst, and the next one begins with a whole budget. */
const within = (times: readonly number[], milliseconds: number) =>
  times.filter((time) => time < milliseconds).length;

describe('the requests of one process', () => {
  it('are at most fifty in a second with the token of the bot', async () => {
    const times = await post(130, [openRest()]);
    expect(within(times, 900)).toBeLessThanOrEqual(100);
    expect(Math.max(...times)).toBeGreaterThan(1_000);
  });

  it('that wait for the budget while their route is limited wait for that, too', async () => {
    const sentAt: number[] = [];
    let grants = 0;
    const slowly: Lessor = {
      take: async () => {
        if (grants++ > 0) await sleep(50);
        return { granted: 1, milliseconds: 10_000 };
      },
      block: async () => {},
    };
    const wait = (milliseconds: number) => sleep(milliseconds);
    const budget = createRequestBudget({ replicas: slowly, elapsed, sleep: wait, signal: closing.signal });
    const send = budget.limiting(async () => {
      const isFirst = sentAt.push(elapsed()) === 1;
      const response = Response.json({}, isFirst ? { status: 429, headers: { 'retry-after': '0.3' } } : {});
      // The library's types come from its own undici; the values are Node's in both.
      return response as unknown as Awaited<ReturnType<typeof sendRequest>>;
    });
    const edit = (message: string) =>
      send(`${discord.apiUrl}/v10/channels/${discord.channel.id}/messages/${message}`, {
        method: 'PATCH',
        headers: { Authorization: 'Bot token' },
      });
    await Promise.all([edit('100000000000000001'), edit('100000000000000002')]);
    expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThanOrEqual(299);
  });

  it('wait for the longest of the times that Discord named for their route', async () => {
    const { clock, post } = virtually(undefined, ['0.05', '0.3']);
    await Promise.all([post(), post()]);
    await post();
    expect(clock.time).toBe(300);
  });

  /** Requests in virtual time. The first ones are limited, each for so many seconds. */
  function virtually(replicas: Lessor | undefined, limits: string[] = []) {
    const clock = { time: 0 };
    const { limiting } = createRequestBudget({
      replicas,
      elapsed: () => clock.time,
      async sleep(milliseconds) {
        clock.time += milliseconds;
      },
      signal: closing.signal,
    });
    const send = limiting(async () => {
      const seconds = limits.shift();
      // All of these are on their way before the first answer, and the last one is answered first.
      while (limits.length > 0) await Promise.resolve();
      const limited = seconds && { status: 429, headers: { 'retry-after': seconds } };
      // The library's types come from its own undici; the values are Node's in both.
      return Response.json({}, limited || {}) as unknown as Awaited<ReturnType<typeof sendRequest>>;
    });
    const url = `${discord.apiUrl}/v10/channels/${discord.channel.id}/messages`;
    return { clock, post: () => send(url, { method: 'POST', headers: { Authorization: 'Bot token' } }) };
  }

  it('that were granted for a second are not made in the next one', async () => {
    const take = vi.fn<Lessor['take']>(async () => ({ granted: 10, milliseconds: 1_000 }));
    const { clock, post } = virtually({ take, block: async () => {} });
    await post();
    clock.time = 999;
    await post();
    expect(take).toHaveBeenCalledTimes(1);
    clock.time = 1_000;
    await post();
    expect(take).toHaveBeenCalledTimes(2);
  });

  it('go on slowly while storage cannot be asked', async () => {
    const away = () => Promise.reject(new Error('Redis is away'));
    const { clock, post } = virtually({ take: away, block: away });
    for (let made = 0; made < 25; made += 1) await post();
    expect(clock.time).toBe(2_000);
  });

  it('that answer interactions are not counted', async () => {
    const rest = openRest({ take: () => new Promise(() => {}), block: async () => {} });
    const before = discord.requests.length;
    await expect(rest.response({ application: discord.applicationId, token: 'over' }, '1')).rejects.toThrow();
    expect(discord.requests.slice(before), 'it reached Discord').toHaveLength(1);
  });
});

describe('a proxy in DISCORD_API_URL', () => {
  it('takes commands, posts and files through', async () => {
    const proxied: string[] = [];
    const forward = proxyRequests(new REST({ api: discord.apiUrl }));
    const proxy = createServer((request, response) => {
      proxied.push(request.url ?? '');
      void forward(request, response);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    // Sound: it listens at a port.
    const { port } = proxy.address() as AddressInfo;
    const rest = createDiscordRest({ token: discord.token, apiUrl: `http://127.0.0.1:${port}/api` });
    opened.push(rest);
    const { body } = textSending('through a proxy');
    const { content } = await rest.post(
      discord.channel.id,
      {
        body: { ...body, attachments: [{ id: 0, filename: 'rain.txt' }] },
        files: [
          {
            name: 'rain.txt',
            contentType: 'text/plain',
            bytes: 4,
            open: async () => Readable.from([Buffer.from('rain')]),
          },
        ],
      },
      { nonce: 'proxied' },
    );
    expect(content).toBe('through a proxy');
    expect(
      discord
        .said()
        .at(-1)
        ?.attachments.map(({ filename }) => filename),
    ).toEqual(['rain.txt']);
    expect(await rest.gatewayAdvice()).toMatchObject({ shards: 1 });
    expect(proxied).toHaveLength(2);
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
});

describe.runIf(noRedis === undefined)(noRedis ?? 'the requests of several replicas', () => {
  let redis: RedisServer;
  const storages: Storage[] = [];
  let asked = 0;

  beforeAll(async () => {
    redis = await startRedisServer();
    for (let replica = 0; replica < 3; replica += 1)
      storages.push(
        await openRedisStorage({
          ...PATIENT,
          url: redis.url,
          clock: systemClock,
          random: Math.random,
          log: new RecordingLog(),
        }),
      );
  });
  afterAll(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await redis.dispose();
  });

  const replicasOf = ({ replicas }: Storage): Lessor => {
    if (!replicas) throw new TypeError('Redis is shared');
    return {
      take(...request) {
        asked += 1;
        return replicas.take(...request);
      },
      block: replicas.block,
    };
  };

  it('are at most fifty in a second together, and few of them ask Redis', async () => {
    asked = 0;
    const rests = storages.map((storage) => openRest(replicasOf(storage)));
    const times = await post(240, rests);
    expect(within(times, 900)).toBeLessThanOrEqual(100);
    expect(within(times, 1_900)).toBeLessThanOrEqual(150);
    expect(Math.max(...times)).toBeGreaterThan(3_000);
    expect(asked).toBeLessThan(120);
  });

  it('all wait when Discord has limited one of them', async () => {
    const [one, other] = storages.map((storage) => openRest(replicasOf(storage)));
    discord.faults.limitGlobally(700);
    const isBlocked = () =>
      expect
        .poll(() => storages[1]?.replicas?.take('discord requests', { perSecond: 50, wanted: 1 }))
        .toMatchObject({ granted: 0 });
    const [first] = await Promise.all([
      post(1, one ? [one] : []),
      isBlocked().then(() => post(5, other ? [other] : [])),
    ]);
    expect(first[0]).toBeGreaterThan(690);
    expect(discord.refused).toEqual([]);
  });
});
