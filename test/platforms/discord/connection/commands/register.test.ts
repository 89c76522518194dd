import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DiscordServer, startDiscord } from '../../../../servers/discord/index.ts';
import { PROGRAM_ENVIRONMENT } from '../../../../servers/program.ts';

const PROGRAM = fileURLToPath(new URL('../../../../../src/cli/register.ts', import.meta.url));

let discord: DiscordServer;

beforeEach(async () => {
  discord = await startDiscord();
});

afterEach(async () => {
  await discord.close();
});

/** Runs `npm run register` with nothing in its environment but these settings. */
function register(settings: Record<string, string>): Promise<{ status: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM], {
      cwd: tmpdir(),
      env: { ...PROGRAM_ENVIRONMENT, ...settings },
    });
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    child.stderr.on('data', (chunk) => (said += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, said }));
  });
}

it('writes every command the first time, and nothing the second', async () => {
  const settings = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  expect(await register(settings)).toMatchObject({
    status: 0,
    said: expect.stringContaining('were written'),
  });
  const names = discord.commands.map((command) => command.name);
  expect(names).toEqual(
    expect.arrayContaining(['song', 'lyrics', 'stems', 'image', 'video', 'ask', 'Ask about this']),
  );
  expect(await register(settings)).toMatchObject({
    status: 0,
    said: expect.stringContaining('Nothing was written'),
  });
  expect(discord.registrations.count).toBe(1);
  expect(discord.refused).toEqual([]);
});

it('says what is wrong with the token', async () => {
  expect(await register({})).toMatchObject({
    status: 1,
    said: expect.stringContaining('DISCORD_TOKEN is not set'),
  });
  discord.gateway.token = 'another';
  const refused = await register({ DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
  expect(refused).toEqual({
    status: 1,
    said: 'The commands could not be registered: Discord refused the token.\n',
  });
});
