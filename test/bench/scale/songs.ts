/** What songs cost replicas that share one Redis: CPU, requests to Discord, memory of Redis. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmulator } from '../../../src/emulator/server.ts';
import { createSampleStudio } from '../../fixtures/sample-studio.ts';
import { type InteractionHandle, startDiscord } from '../../servers/discord/index.ts';
import { connectRedis, startRedisServer } from '../../servers/redis.ts';
import { startMeasuredBot } from '../bot.ts';

export interface SongCosts {
  readonly replicas: number;
  readonly perSecond: number;
  /** Of all replicas together. */
  readonly cpuMsPerSong: number;
  readonly requestsPerSong: number;
  readonly redisKbPerSong: number;
  readonly peakMb: number;
}

export async function measureSongs(replicas: number, songs: number): Promise<SongCosts> {
  await using stack = new AsyncDisposableStack();
  const discord = stack.adopt(await startDiscord({ shards: 3, responseDeadlineMs: 60_000 }), (one) =>
    one.close(),
  );
  const emulator = stack.adopt(
    await startEmulator({ speed: 0.1, songSeconds: 3, studio: createSampleStudio() }),
    (one) => one.close(),
  );
  const redis = stack.adopt(await startRedisServer({ appendfsync: 'everysec' }), (one) => one.dispose());
  const client = stack.adopt(await connectRedis(redis.url), (one) => one.destroy());
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'minstrel-scale-')), (one) =>
    rm(one, { recursive: true, force: true }),
  );
  const channels = [discord.channel];
  while (channels.length < 3) {
    await sleep(1);
    const guild = discord.world.addGuild(`Server ${channels.length}`);
    channels.push(discord.world.addChannel('music', { guildId: guild.id }));
  }
  const bots = await Promise.all(
    Array.from({ length: replicas }, async () =>
      stack.use(
        await startMeasuredBot({
          NODE_ENV: '',
          DISCORD_TOKEN: discord.token,
          DISCORD_API_URL: discord.apiUrl,
          GATEWAY_BASE_URL: emulator.url,
          GATEWAY_API_KEY: emulator.apiKey,
          MEDIA_STORE: join(folder, 'media'),
          MEDIA_ALLOWED_HOSTS: new URL(emulator.url).host,
          CONCURRENCY: 'song=1000',
          REDIS_URL: redis.url,
        }),
      ),
    ),
  );
  const living = () => client.zCard('minstrel:leases:discord%20shards:replicas');
  while ((await living()) < replicas || discord.gateway.connected < 3) await sleep(100);
  await discord.until(() => discord.commands.length > 0, 'registered commands');

  async function sing(count: number): Promise<number> {
    const begunAt = performance.now();
    const handles = Array.from({ length: count }, (_, index) =>
      discord.command({
        name: 'song',
        options: { prompt: 'rain' },
        user: discord.world.addUser(`person ${index}`),
        channel: channels[index % 3] ?? discord.channel,
      }),
    );
    const isDone = ({ original }: InteractionHandle) =>
      JSON.stringify(original?.components ?? []).includes('song.extend');
    while (!handles.every(isDone)) await sleep(50);
    return (performance.now() - begunAt) / 1_000;
  }

  const memory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]) / 1_000;
  // Compilers and caches are warm, as in a bot that runs for weeks.
  await sing(Math.ceil(songs / 3));
  await sleep(1_000);
  for (const bot of bots) await bot.used();
  const [requests, redisKb, usedAt] = [discord.requests.length, await memory(), performance.now()];
  const seconds = await sing(songs);
  await sleep(1_000);
  const elapsedMs = performance.now() - usedAt;
  const used = await Promise.all(bots.map((bot) => bot.used()));
  return {
    replicas,
    perSecond: songs / seconds,
    cpuMsPerSong: (used.reduce((sum, { cpuShare }) => sum + cpuShare, 0) * elapsedMs) / songs,
    requestsPerSong: (discord.requests.length - requests) / songs,
    redisKbPerSong: ((await memory()) - redisKb) / songs,
    peakMb: Math.max(...used.map(({ peakMb }) => peakMb)),
  };
}
