import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startDiscord } from '../servers/discord/index.ts';
import { PATIENCE_MS, startMinstrel } from './minstrel.ts';

const MESSAGE_CONTENT = 1 << 15;

it('tells each person once that the operator paused the bot, in channels with talk on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-paused-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const discord = await startDiscord({
    responseDeadlineMs: PATIENCE_MS,
    privilegedIntents: MESSAGE_CONTENT,
  });
  onTestFinished(() => discord.close());
  await using running = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_MESSAGE_CONTENT: '1',
    DATA_DIR: folder,
  });
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const talk = { name: 'models answers', options: { talk: true }, moderator: true };
  await discord.command(talk).response();
  await writeFile(join(folder, 'paused'), '');
  const refusals = () =>
    [...discord.world.channels.values()]
      .filter(({ parentId }) => parentId === discord.channel.id)
      .flatMap((thread) => discord.botMessages(thread))
      .filter(({ content }) => content.includes('operator has paused'));
  discord.say({ text: 'What is a mode?' });
  await discord.until(() => refusals().length === 1, 'a refusal');
  discord.say({ text: 'What is a scale?' });
  discord.say({ text: 'What is a key?', user: discord.world.addUser('Bob') });
  await discord.until(() => refusals().length > 1, 'a refusal for Bob');
  await running.minstrel.stop();
  expect(refusals()).toHaveLength(2);
});
