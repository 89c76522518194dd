import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT, whileRuns } from '../servers/program.ts';

/** The bot in a separate process that is killed and restarted. */
let discord: DiscordServer;
let emulator: Emulator;
let directory: string;
let bot: ChildProcess | undefined;
let environment: Record<string, string>;
/** The output of all processes, in order. */
let output = '';
/** The state before the test. */
let before: { requests: number; messages: number };

beforeAll(async () => {
  discord = await startDiscord();
  emulator = await startEmulator({
    speed: 0.3,
    songSeconds: 3,
    studio: createSampleStudio(),
    fetch: fetchPatiently,
    callbackTimeoutSeconds: 600,
  });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-restart-'));
  environment = {
    ...PROGRAM_ENVIRONMENT,
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
});

// A start takes a second or two, so each test continues with the previous one's process.
beforeEach(async () => {
  before = { requests: emulator.requests.length, messages: discord.botMessages().length };
  if (!bot) await start();
});

afterAll(async () => {
  await end('SIGKILL');
  await emulator.close();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
});

/** Retries callbacks until the bot has restarted. */
async function fetchPatiently(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    try {
      return await fetch(input, init);
    } catch (error) {
      if (init?.signal?.aborted) throw error;
      await sleep(50);
    }
  }
}

async function start(): Promise<void> {
  const started = spawn(process.execPath, ['src/main.ts'], {
    cwd: PROJECT,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.stderr.on('data', (chunk) => (output += chunk));
  bot = started;
  await whileRuns(started, expect.poll(() => reachable()).toBe(true));
}

async function reachable(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${environment.PORT}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** Ends the process. Resolves to its exit code, or null after a signal. */
async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const child = bot;
  bot = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return typeof code === 'number' ? code : null;
}

const requests = (method: string, route: RegExp) =>
  emulator.requests
    .slice(before.requests)
    .filter((request) => request.method === method && route.test(request.url));
const submissions = (route: RegExp) => requests('POST', route);

/** Runs a command. Resolves to its progress message once it offers the given button. */
async function run(
  name: string,
  options: Record<string, string | number>,
  button = 'Cancel',
): Promise<StoredMessage> {
  const handle = discord.command({ name, options });
  return handle.message((message) => JSON.stringify(message.components).includes(button));
}

/** Resolves to the message once it shows a result. */
async function resultOf({ id }: StoredMessage): Promise<StoredMessage> {
  return await discord.until(
    () =>
      discord
        .botMessages()
        .find((message) => message.id === id && JSON.stringify(message.components).includes('Again')),
    'a result in the message that stood',
  );
}

it('SIGTERM hands over running work and ends cleanly before the deadline', async () => {
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  // Problems with the setup are logged soon after the start.
  await expect.poll(() => output).toContain('Models: IMAGE_MODEL is not set');
  const song = await run('song', { prompt: 'a tune for rain' });
  expect(await end('SIGTERM')).toBe(0);
  // After its own limit, which is below ten seconds, it would log something else.
  expect(output).toContain('Minstrel stopped');
  await start();
  await resultOf(song);
  expect(submissions(/music\/generate$/)).toHaveLength(1);
});

it('delivers and pays once if killed between acceptance and result', async () => {
  const routes = { video: /video-synthesis$/, song: /music\/generate$/, ask: /chat\/completions/ };
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const video = await run('video', { prompt: 'waves', duration: '5' });
  // Videos have no callbacks, so their task must be stored before the kill. The first poll shows that it is.
  await expect.poll(() => requests('GET', /tasks\//).length).toBeGreaterThan(0);
  const song = await run('song', { prompt: 'a tune for rain' });
  await expect.poll(() => submissions(routes.song)[0]?.status).toBe(200);
  const answer = await run('ask', { question: 'Explain the tides to me in detail' }, 'Stop');
  await expect.poll(() => submissions(routes.ask).length).toBe(1);
  await end('SIGKILL');
  await start();

  expect((await resultOf(video)).attachments.length).toBeGreaterThanOrEqual(1);
  expect((await resultOf(song)).attachments.length).toBeGreaterThanOrEqual(2);
  // A stream cannot be resumed: the answer is marked as cut short and offers Again.
  expect(JSON.stringify(await resultOf(answer))).toMatch(/restarted in the middle|broke off/);
  for (const [name, route] of Object.entries(routes)) expect(submissions(route), name).toHaveLength(1);
  expect(
    discord
      .botMessages()
      .slice(before.messages)
      .filter(({ deleted }) => !deleted),
  ).toHaveLength(3);
  expect(discord.refused).toEqual([]);
});

it('starts the job once if killed before or right after the acknowledgement', async () => {
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const killedAt = (what: 'dropped' | 'answer lost') =>
    new Promise<void>((resolve) => {
      discord.faults.decide = (request) => {
        if (!/^POST \/interactions\/.*callback/.test(request)) return undefined;
        resolve(end('SIGKILL').then(() => undefined));
        return what;
      };
    });
  for (const what of ['dropped', 'answer lost'] as const) {
    const killed = killedAt(what);
    discord.command({ name: 'song', options: { prompt: what, title: `It was ${what}` } });
    await killed;
    discord.faults.clear();
    await start();
  }
  const hasNotice = (text: RegExp) =>
    discord.until(
      () => discord.botMessages().find((message) => text.test(JSON.stringify(message))),
      `${text}`,
    );
  await hasNotice(/It was dropped.*Again/);
  await hasNotice(/It was answer lost.*Again/);
  expect(submissions(/music\/generate$/)).toHaveLength(2);
  // A missing acknowledgement is noticed only when the interaction is answered.
  expect(discord.refused.filter(({ code }) => code !== 10_015)).toEqual([]);
});
