import { afterEach, expect, it } from 'vitest';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const MINUTE = 60_000;

it('drops an unreadable event and answers the next one', async () => {
  const { discord, log } = await start();
  discord.gateway.dispatch({
    event: 'CHANNEL_CREATE',
    guildId: discord.guild.id,
    intents: 1,
    data: () => ({
      id: discord.world.nextId(),
      guild_id: discord.guild.id,
      type: 0,
      permission_overwrites: 7,
    }),
  });
  const message = 'Dropped an unreadable Discord event';
  await expect.poll(() => log.map(({ sentence }) => sentence)).toContain(message);
  const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
  expect((await song.response()).content).toBe('Done.');
});

it('answers a mention from before the bot was ready', async () => {
  const { discord, bot, platform } = await start({ idle: true });
  discord.gateway.holdsGuilds = true;
  const started = accept(bot);
  const starting = platform.start(bot);
  await discord.until(() => discord.gateway.connected === 1, 'a session');
  discord.mention({ text: 'are you there?' });
  discord.gateway.sendGuilds();
  await starting;
  expect((await started).options).toMatchObject({ question: 'are you there?' });
});

it('retries with increasing delays after Discord closes the connection permanently', async () => {
  const pauses: number[] = [];
  const { discord, bot, platform } = await start({
    idle: true,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        pauses.push(milliseconds);
        signal.addEventListener('abort', () => resolve());
        if (pauses.length < 4) resolve();
      }),
    adapter: () => ({ messageContent: true }),
  });
  await platform.start(bot);
  await expect.poll(() => pauses.length).toBe(4);
  expect(discord.gateway.identifies).toBe(4);
  expect(pauses).toEqual([2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 5 * MINUTE]);
  expect(platform.status()).toMatchObject({ ready: false });
});
