import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { noRedis, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** While storage is down, people get a message, and nothing untracked is paid for. */
describe.runIf(noRedis === undefined)(noRedis ?? 'Redis that goes away', () => {
  let discord: DiscordServer;
  let redis: RedisServer;
  let running: RunningMinstrel;

  beforeAll(async () => {
    discord = await startDiscord();
    redis = await startRedisServer();
    running = await startMinstrel({
      REDIS_URL: redis.url,
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    });
    await discord.until(() => discord.commands.length > 0, 'registered commands');
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await discord?.close();
    await redis?.dispose();
  });

  const paidRequests = () => running.emulator.requests.filter(({ method }) => method === 'POST').length;
  const ready = async () => (await fetch(`${running.minstrel.url}/readyz`)).status;

  it('is reported to people and on /readyz, spends nothing, and ends when Redis is back', async () => {
    await redis.kill();
    for (const [name, options] of [
      ['song', { prompt: 'a tune for rain' }],
      ['image', { prompt: 'a fox' }],
      ['ask', { question: 'Why?' }],
    ] as const) {
      const handle = discord.command({ name, options });
      expect([4, 5]).toContain(await handle.acknowledged());
      const message = await handle.message(({ content, embeds }) =>
        /(?:cannot take work|can[’']t start anything) right now/.test(`${content} ${JSON.stringify(embeds)}`),
      );
      expect(handle.messages).toEqual([message]);
      expect(handle.ephemeral || message.onlyFor !== null).toBe(true);
    }
    expect(paidRequests()).toBe(0);
    expect(await ready()).toBe(503);

    await redis.start();
    await expect.poll(ready).toBe(200);
    const song = discord.command({ name: 'song', options: { prompt: 'a tune for wind' } });
    await song.message((message) => message.attachments.length >= 2);
    expect(paidRequests(), 'what was declined is not made up for').toBe(1);
    expect(discord.refused).toEqual([]);
  });
});
