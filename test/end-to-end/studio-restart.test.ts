import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { labelsOf, startDiscord } from '../servers/discord/index.ts';
import { startMinstrel } from './minstrel.ts';

it('a song’s buttons work months later, after a restart', async () => {
  const discord = await startDiscord();
  const emulator = await startEmulator({ speed: 0, songSeconds: 3, studio: createSampleStudio() });
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-studio-'));
  onTestFinished(async () => {
    await emulator.close();
    await discord.close();
    await rm(directory, { recursive: true, force: true });
  });
  const start = () =>
    startMinstrel(
      {
        DATA_DIR: directory,
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: discord.apiUrl,
        MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
      },
      { emulator },
    );

  const before = await start();
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const interaction = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
  const song = await interaction.message((message) => labelsOf(message).includes('Take 2: WAV'));
  await before[Symbol.asyncDispose]();

  await using _after = await start();
  // Months later, the interaction's token has long expired.
  discord.advance(200 * 24 * 3_600_000);
  const wav = discord.press('Take 2: WAV', song);
  const result = await wav.message((message) => message.attachments.length > 0);
  expect(result.attachments.map(({ filename }) => filename)).toEqual([expect.stringContaining('.wav')]);
  expect(JSON.stringify(result.embeds)).toContain('take 2');
  expect(discord.refused).toEqual([]);
});
