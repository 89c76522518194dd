import { afterEach, expect, it } from 'vitest';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** What keeps the connection, and what Discord's own mistakes do to it. */
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

it('an event that cannot be read is dropped, and the next one is answered', async () => {
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
  const dropped = 'Dropped an unreadable Discord event';
  await expect.poll(() => log.map(({ sentence }) => sentence)).toContain(dropped);
  const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
  expect((await song.response()).content).toBe('Done.');
});

it('a mention before the bot is ready is answered once it is', async () => {
  const { discord, bot, platform } = await start({ idle: true });
  discord.gateway.holdsGuilds = true;
  const begun = accept(bot);
  const starting = platform.start(bot);
  await discord.until(() => discord.gateway.connected === 1, 'a session');
  discord.mention({ text: 'are you there?' });
  discord.gateway.tellGuilds();
  await starting;
  expect((await begun).options).toMatchObject({ question: 'are you there?' });
});

it('a bot that Discord sends away identifies every few minutes, and more rarely each time', async () => {
  const waited: number[] = [];
  const { discord, bot, platform } = await start({
    idle: true,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        waited.push(milliseconds);
        signal.addEventListener('abort', () => resolve());
        if (waited.length < 4) resolve();
      }),
    adapter: () => ({ messageContent: true }),
  });
  await platform.start(bot);
  await expect.poll(() => waited.length).toBe(4);
  expect(discord.gateway.identifies).toBe(4);
  expect(waited).toEqual([2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 5 * MINUTE]);
  expect(platform.status()).toMatchObject({ ready: false });
});
