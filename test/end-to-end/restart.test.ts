import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';

/** The bot as a process of its own, killed without a word and started again. */
let discord: DiscordServer;
let emulator: Emulator;
let directory: string;
let bot: ChildProcess | undefined;
let environment: Record<string, string>;

beforeEach(async () => {
  discord = await startDiscord();
  emulator = await startEmulator({ speed: 0.3, songSeconds: 3 });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-restart-'));
  environment = {
    PATH: process.env.PATH ?? '',
    PORT: String(await freePort()),
    DATA_DIR: directory,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    VIDEO_MODEL: 'reel-standard',
    ASK_MODEL: 'chat:chat-small',
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: [new URL(emulator.url).host, new URL(discord.origin).host].join(','),
  };
  await start();
}, 60_000);

afterEach(async () => {
  await end('SIGKILL');
  await emulator.close();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
}, 60_000);

async function start(): Promise<void> {
  bot = spawn(process.execPath, ['src/main.ts'], {
    cwd: directoryOfProject(),
    env: environment,
    stdio: 'ignore',
  });
  await expect.poll(() => reachable(), { timeout: 30_000, interval: 50 }).toBe(true);
}

async function reachable(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${environment.PORT}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** Ends the process; resolves to its exit code, null where a signal ended it. */
async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const child = bot;
  bot = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = await ended;
  return typeof code === 'number' ? code : null;
}

function directoryOfProject(): string {
  return new URL('../..', import.meta.url).pathname;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return address.port;
}

const finished = () =>
  discord.said().filter((message) => JSON.stringify(message.components).includes('Again'));
const submissions = (route: RegExp) =>
  emulator.requests.filter(({ method, url }) => method === 'POST' && route.test(url));

async function asked(name: string, options: Record<string, string | number>): Promise<StoredMessage> {
  const handle = discord.command({ name, options });
  return handle.message((message) => JSON.stringify(message.components).includes('Cancel'), 20_000);
}

describe('killed between acceptance and result, and started again', () => {
  it.each([
    ['song', { prompt: 'a tune for rain' }, /music\/generate$/, 2],
    ['video', { prompt: 'waves', duration: 5 }, /video-synthesis$/, 1],
  ] as const)(
    'delivers the %s once, and pays once',
    { timeout: 90_000 },
    async (name, options, route, files) => {
      await discord.until(() => discord.commands.length > 0, 'registered commands');
      const progress = await asked(name, options);
      await expect.poll(() => submissions(route).length, { timeout: 20_000 }).toBe(1);
      await expect.poll(() => submissions(route)[0]?.status, { timeout: 20_000 }).toBe(200);
      await end('SIGKILL');
      await start();
      await discord.until(() => finished().length > 0, 'a result', 60_000);
      const [result] = finished();
      expect(result?.id, 'the message that stood became the result').toBe(progress.id);
      expect(result?.attachments.length).toBeGreaterThanOrEqual(files);
      expect(submissions(route)).toHaveLength(1);
      expect(discord.said().filter(({ deleted }) => !deleted)).toHaveLength(1);
      expect(discord.refused).toEqual([]);
    },
  );

  it('says of an answer that it was cut short, and offers it again', { timeout: 90_000 }, async () => {
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    const handle = discord.command({
      name: 'ask',
      options: { question: 'Explain the tides to me in detail' },
    });
    await handle.message((message) => JSON.stringify(message.components).includes('Stop'), 20_000);
    await expect.poll(() => submissions(/chat\/completions/).length, { timeout: 20_000 }).toBe(1);
    await end('SIGKILL');
    await start();
    await discord.until(() => finished().length > 0, 'a sentence', 60_000);
    expect(JSON.stringify(finished()[0])).toMatch(/restarted in the middle|broke off/);
    expect(submissions(/chat\/completions/)).toHaveLength(1);
  });
});

it('SIGTERM hands running work over and ends cleanly within ten seconds', { timeout: 90_000 }, async () => {
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  await asked('song', { prompt: 'a tune for rain' });
  const patience = AbortSignal.timeout(10_000);
  const code = await end('SIGTERM');
  expect(patience.aborted).toBe(false);
  expect(code).toBe(0);
  await start();
  await discord.until(() => finished().length > 0, 'a result', 60_000);
  expect(submissions(/music\/generate$/)).toHaveLength(1);
});
