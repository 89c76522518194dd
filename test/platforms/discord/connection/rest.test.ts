import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { proxyRequests } from '@discordjs/proxy';
import { REST, Routes } from 'discord.js';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openRest } from '../../../../src/platforms/discord/connection/rest.ts';
import { textSending } from '../../../../src/platforms/discord/deliver/payload.ts';
import { type DiscordServer, startDiscord } from '../../../servers/discord/index.ts';

let discord: DiscordServer;

beforeAll(async () => {
  discord = await startDiscord();
});
afterEach(() => discord.faults.clear());
afterAll(() => discord.close());

it('sends at most 50 requests per second with the bot token', async () => {
  const rest = openRest(discord);
  const startedAt = performance.now();
  const times = await Promise.all(
    Array.from({ length: 130 }, async (_, index) => {
      const channel = discord.world.addChannel(`c${index}`, { guildId: discord.guild.id });
      await rest.post(channel.id, textSending('rain'), { nonce: `n${index}` });
      return performance.now() - startedAt;
    }),
  );
  // A second may end during the burst, and the next one starts with a full budget.
  expect(times.filter((time) => time < 900).length).toBeLessThanOrEqual(100);
  expect(Math.max(...times)).toBeGreaterThan(1_000);
  expect(discord.refused).toEqual([]);
});

it('delays all requests during a global rate limit', async () => {
  const rest = openRest(discord);
  discord.faults.limitGlobally(700);
  const startedAt = performance.now();
  await rest.post(discord.channel.id, textSending('first'), { nonce: 'first' });
  await rest.post(discord.channel.id, textSending('second'), { nonce: 'second' });
  expect(performance.now() - startedAt).toBeGreaterThan(690);
  expect(discord.refused).toEqual([]);
});

it.each([
  ['503', 'fail'],
  ['a broken connection', 'dropped'],
  ['a lost response', 'answer lost'],
] as const)('sends a follow-up only once, despite %s', async (_name, fault) => {
  const rest = openRest(discord);
  const before = discord.requests.length;
  discord.faults.decide = () => fault;
  const followUp = rest.followUp(
    { application: discord.applicationId, token: 'x'.repeat(60) },
    textSending('x'),
  );
  await expect(followUp).rejects.toThrow();
  expect(discord.requests.slice(before)).toHaveLength(1);
});

it('posts text and files through the proxy in DISCORD_API_URL', async () => {
  const proxied: string[] = [];
  const forward = proxyRequests(new REST({ api: discord.apiUrl }));
  const proxy = createServer((request, response) => {
    proxied.push(request.url ?? '');
    void forward(request, response);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  // Safe: the proxy listens on a port.
  const { port } = proxy.address() as AddressInfo;
  const rest = openRest({ token: discord.token, apiUrl: `http://127.0.0.1:${port}/api` });
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
  const posted = discord
    .botMessages()
    .at(-1)
    ?.attachments.map(({ filename }) => filename);
  expect(posted).toEqual(['rain.txt']);
  expect(await rest.read(Routes.gatewayBot())).toMatchObject({ shards: 1 });
  expect(proxied).toHaveLength(2);
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});
