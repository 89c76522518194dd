import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscordServer, startDiscord } from '../../../servers/discord/index.ts';
import { PROGRAM_ENVIRONMENT } from '../../../servers/program.ts';
import { type Harness, startHarness } from '../harness.ts';

const PROGRAM = fileURLToPath(new URL('../../../../src/cli/register.ts', import.meta.url));

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

describe('npm run register', () => {
  let discord: DiscordServer;

  beforeEach(async () => {
    discord = await startDiscord();
  });

  afterEach(async () => {
    await discord.close();
  });

  it('writes every command', async () => {
    const settings = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
    expect(await register(settings)).toMatchObject({
      status: 0,
      said: expect.stringContaining('Commands registered'),
    });
    const names = discord.commands.map((command) => command.name);
    expect(names).toEqual(
      expect.arrayContaining(['song', 'lyrics', 'stems', 'image', 'video', 'ask', 'Ask about this']),
    );
    expect(discord.registrations.count).toBe(1);
    expect(discord.refused).toEqual([]);
  });

  it('says what is wrong with the token', async () => {
    discord.gateway.token = 'another';
    const refused = await register({ DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
    expect(refused).toEqual({
      status: 1,
      said: 'Could not register the commands: Discord rejected the token.\n',
    });
  });
});

describe('at its start the bot', () => {
  const kept = new Map<string, unknown>();
  const settings = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: unknown) => void kept.set(key, value),
  };
  let harness: Harness;

  beforeEach(async () => {
    kept.clear();
    harness = await startHarness({
      adapter: () => ({ settings }),
      sleep: async () => {},
      prepare: ({ faults }) => faults.fail(503, { times: 4, path: /^PUT .*commands$/ }),
    });
    await expect.poll(() => kept.size).toBe(1);
  });

  afterEach(async () => {
    await harness.close();
  });

  const requests = () => harness.discord.requests.filter((request) => request.endsWith('/commands'));

  /** What it asks Discord about commands. */
  async function restart(): Promise<string[]> {
    const before = requests().length;
    const registered = () => harness.log.filter(({ sentence }) => sentence.startsWith('Registered commands'));
    const times = registered().length;
    await (await harness.another()).start(harness.bot);
    await expect.poll(() => registered().length).toBe(times + 1);
    return requests()
      .slice(before)
      .map((request) => request.split(' ')[0] ?? '');
  }

  it('tries again until Discord has its commands', () => {
    expect(requests().filter((request) => request.startsWith('PUT'))).toHaveLength(5);
    expect(harness.discord.registrations.count).toBe(1);
  });

  it('asks for nothing while its commands are those that it wrote last', async () => {
    expect(await restart()).toEqual([]);
  });

  it('writes all of them when they changed', async () => {
    for (const key of kept.keys()) kept.set(key, 'of an earlier version');
    expect(await restart()).toEqual(['PUT']);
    expect(await restart()).toEqual([]);
  });
});
