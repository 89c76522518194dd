import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FaultyEmulator, startFaultyEmulator } from '../emulator/faulty.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Work that waits for its callback while the secret that signed the callback URL changes. */
let discord: DiscordServer;
let directory: string;
let emulator: FaultyEmulator;
let running: RunningMinstrel | undefined;

beforeEach(async () => {
  emulator = await startFaultyEmulator({ speed: 0, songSeconds: 3, studio: createSampleStudio() });
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-secret-'));
});
afterEach(async () => {
  await running?.[Symbol.asyncDispose]();
  await emulator.close();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
});

async function startAgain(secrets: Record<string, string>): Promise<RunningMinstrel> {
  await running?.[Symbol.asyncDispose]();
  const bot = { DATA_DIR: directory, DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  running = await startMinstrel({ ...secrets, ...bot }, { emulator });
  return running;
}

/** Requests a song that never calls back. Resolves to the path of its callback. */
async function waitingSong(): Promise<string> {
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  emulator.addFault({ fault: 'callback=none', path: '/music/generate' });
  discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
  const request = await expect
    .poll(() => JSON.stringify(emulator.requests.find(({ url }) => url.includes('/music/generate'))?.body))
    .toContain('callBackUrl')
    .then(() => emulator.requests.find(({ url }) => url.includes('/music/generate'))?.body);
  const [, url = ''] = /"callBackUrl":"([^"]+)"/.exec(JSON.stringify(request)) ?? [];
  return new URL(url).pathname;
}

const post = async ({ minstrel }: RunningMinstrel, path: string) =>
  (await fetch(`${minstrel.url}${path}`, { method: 'POST', body: '{"code":200}' })).status;

const OLD = 'an old secret that is long enough to be one';
const NEW = 'a new secret that is long enough to be one';

it.each([
  ['accepts the generated secret after one is set', {}, { CALLBACK_SECRET: NEW }, 200],
  [
    'accepts the previous secret while it is set',
    { CALLBACK_SECRET: OLD },
    { CALLBACK_SECRET: NEW, CALLBACK_SECRET_PREVIOUS: OLD },
    200,
  ],
  ['rejects a leaked secret after it is removed', { CALLBACK_SECRET: OLD }, { CALLBACK_SECRET: NEW }, 404],
])('%s', async (_what, before, after, status) => {
  await startAgain(before);
  const path = await waitingSong();
  const restarted = await startAgain(after);
  expect(await post(restarted, path)).toBe(status);
  expect(await post(restarted, `${path}x`), 'anything else proves nothing').toBe(404);
});
