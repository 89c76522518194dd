import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscordServer, startDiscord } from '../../../servers/discord/index.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT } from '../../../servers/program.ts';
import { type Harness, startHarness } from '../harness.ts';

/** Runs `npm run register` with only these settings in its environment. */
function register(settings: Record<string, string>): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MINSTREL, 'register'], {
      cwd: tmpdir(),
      env: { ...PROGRAM_ENVIRONMENT, ...settings },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
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

  it('registers every command', async () => {
    const settings = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
    expect(await register(settings)).toMatchObject({
      status: 0,
      output: expect.stringContaining('Commands registered'),
    });
    const names = discord.commands.map((command) => command.name);
    expect(names).toEqual(
      expect.arrayContaining(['song', 'lyrics', 'stems', 'image', 'video', 'ask', 'Ask about this']),
    );
    expect(discord.registrations.count).toBe(1);
    expect(discord.refused).toEqual([]);
  });

  it('reports an invalid token', async () => {
    discord.gateway.token = 'another';
    const result = await register({ DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
    expect(result).toEqual({
      status: 1,
      output: 'Could not register the commands: Discord rejected the token.\n',
    });
  });
});

describe('at startup, the bot', () => {
  const stored = new Map<string, unknown>();
  const settings = {
    get: async (key: string) => stored.get(key),
    set: async (key: string, value: unknown) => void stored.set(key, value),
  };
  let harness: Harness;

  beforeEach(async () => {
    stored.clear();
    harness = await startHarness({
      adapter: () => ({ settings }),
      sleep: async () => {},
      prepare: ({ faults }) => faults.fail(503, { times: 4, path: /^PUT .*commands$/ }),
    });
    await expect.poll(() => stored.size).toBe(1);
  });

  afterEach(async () => {
    await harness.close();
  });

  const requests = () => harness.discord.requests.filter((request) => request.endsWith('/commands'));

  /** Restarts the bot and returns the methods of its requests about commands. */
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

  it('retries until its commands are registered', () => {
    expect(requests().filter((request) => request.startsWith('PUT'))).toHaveLength(5);
    expect(harness.discord.registrations.count).toBe(1);
  });

  it('sends no request if its commands did not change', async () => {
    expect(await restart()).toEqual([]);
  });

  it('registers all commands if one changed', async () => {
    for (const key of stored.keys()) stored.set(key, 'an earlier version');
    expect(await restart()).toEqual(['PUT']);
    expect(await restart()).toEqual([]);
  });
});
