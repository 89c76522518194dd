import { afterEach, describe, expect, it } from 'vitest';
import { passIdentifyPause } from '../servers/discord/identify-pause.ts';
import { type Channel, type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Several replicas of the whole bot: routing of interactions, and /readyz. */
let discord: DiscordServer;
let replicas: RunningMinstrel[] = [];

afterEach(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
  replicas = [];
  await discord.close();
});

async function replica(environment: Record<string, string> = {}): Promise<RunningMinstrel> {
  const started = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    ...environment,
  });
  replicas.push(started);
  return started;
}

async function readiness({ minstrel }: RunningMinstrel): Promise<{ status: number; says: string }> {
  const response = await fetch(`${minstrel.url}/readyz`);
  return { status: response.status, says: JSON.stringify(await response.json()) };
}

const waitForReadiness = (running: RunningMinstrel, status: number, says: RegExp) =>
  expect.poll(() => readiness(running)).toEqual({ status, says: expect.stringMatching(says) });

const READY = /"ready":true/;

describe('with shards', () => {
  /** Returns a channel in a guild of the given shard, of two. */
  function channelOf(shard: bigint): Channel {
    for (;;) {
      const guild = discord.world.addGuild(`Guild of shard ${shard}`);
      if ((BigInt(guild.id) >> 22n) % 2n === shard)
        return discord.world.addChannel('music', { guildId: guild.id });
      discord.advance(1);
    }
  }

  it('each replica serves its guilds, and one registers the commands', async () => {
    discord = await startDiscord({ shards: 2 });
    const channels = [channelOf(0n), channelOf(1n)] as const;
    const [first, second] = await Promise.all([
      replica({ DISCORD_SHARDS: '0/2' }),
      replica({ DISCORD_SHARDS: '1/2' }),
    ]);
    await discord.until(() => discord.gateway.connected === 2 && discord.commands.length > 0, 'both');
    expect(discord.registrations.count).toBe(1);
    for (const [index, channel] of channels.entries()) {
      const image = discord.command({ name: 'image', options: { prompt: `fox ${index}` }, channel });
      await image.message((message) => message.attachments.length === 1);
      discord.mention({ text: 'What is 6 times 7?', channel });
    }
    const paidRequests = (one: RunningMinstrel | undefined) =>
      one?.emulator.requests.filter(({ body }) => JSON.stringify(body ?? '').includes('fox')).length;
    expect([paidRequests(first), paidRequests(second)]).toEqual([1, 1]);
    for (const channel of channels)
      await discord.until(
        () => discord.botMessages(channel).some((m) => JSON.stringify(m).includes('42')),
        'an answer',
      );
    // Direct messages belong to the first shard.
    discord.mention({ text: 'What is 6 times 7?', channel: discord.directChannel() });
    await discord.until(
      () => discord.botMessages(discord.directChannel()).some((m) => JSON.stringify(m).includes('42')),
      'an answer',
    );
    expect(discord.botMessages(discord.directChannel())).toHaveLength(1);
    expect(discord.refused).toEqual([]);
  });

  it('/readyz names a shard that Discord does not have', async () => {
    discord = await startDiscord();
    discord.gateway.refuseShards = true;
    const running = await replica({ DISCORD_SHARDS: '0/2' });
    await waitForReadiness(running, 503, /DISCORD_SHARDS/);
  });
});

// Permanent refusals are retried after minutes. test/platforms/discord/ covers that with a fake clock.
describe('/readyz', () => {
  it('reports a lost connection and its recovery', async () => {
    discord = await startDiscord();
    const running = await replica();
    await waitForReadiness(running, 200, READY);
    passIdentifyPause();
    discord.gateway.closed.length = 0;
    discord.gateway.away = true;
    discord.gateway.drop();
    await waitForReadiness(running, 503, /not connected/);
    expect((await fetch(`${running.minstrel.url}/healthz`)).status).toBe(200);
    discord.gateway.away = false;
    await waitForReadiness(running, 200, READY);
    const interaction = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
    await interaction.message((message) => JSON.stringify(message.embeds).includes('42'));
    expect(discord.refused).toEqual([]);
  });

  it('reports that Discord is down at the start, and recovers automatically', async () => {
    discord = await startDiscord();
    discord.faults.fail(503, { times: 1_000, path: /gateway|applications/ });
    const running = await replica();
    await waitForReadiness(running, 503, /discord: (?!Discord)/);
    discord.faults.clear();
    await waitForReadiness(running, 200, READY);
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    expect(discord.refused).toEqual([]);
  });

  it('reports a revoked token', async () => {
    discord = await startDiscord();
    const running = await replica();
    await waitForReadiness(running, 200, READY);
    discord.gateway.revoke();
    await waitForReadiness(running, 503, /Discord rejected the token/);
  });

  it('names an intent that is turned off', async () => {
    discord = await startDiscord();
    const running = await replica({ DISCORD_MESSAGE_CONTENT: '1' });
    await waitForReadiness(running, 503, /Message Content Intent/);
  });
});
