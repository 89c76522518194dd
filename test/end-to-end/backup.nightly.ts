/** `npm run backup` beside a running bot, and `npm run restore` elsewhere, as operators run them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

let discord: DiscordServer;
let emulator: Emulator;
let directory: string;
let running: RunningMinstrel | undefined;
let port: number;
/** The gateway's callbacks wait for this. */
const calledBack = Promise.withResolvers<void>();

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  emulator = await startEmulator({
    speed: 0,
    songSeconds: 3,
    studio: createSampleStudio(),
    callbackTimeoutSeconds: 600,
    fetch: async (...request) => {
      await calledBack.promise;
      return fetch(...request);
    },
  });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-backup-'));
  port = await freePort();
});
afterAll(async () => {
  calledBack.resolve();
  await running?.[Symbol.asyncDispose]();
  await emulator.close();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
});

const path = (...names: string[]) => join(directory, ...names);
const publicUrl = () => `http://127.0.0.1:${port}`;

async function start(data: string): Promise<void> {
  running = await startMinstrel(
    {
      DATA_DIR: path(data),
      PORT: String(port),
      CONCURRENCY: 'song=1',
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
    },
    { emulator },
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
}

const run = (program: 'backup' | 'restore', data: string, folder: string, more = {}) =>
  runWith(program, data, [folder], more);
const runWith = (program: string, data: string, args: readonly string[], more = {}) =>
  promisify(execFile)(process.execPath, [MINSTREL, program, ...args], {
    cwd: PROJECT,
    env: { ...PROGRAM_ENVIRONMENT, DATA_DIR: path(data), PORT: String(port), ...more },
  });

const textOf = (message: StoredMessage) =>
  JSON.stringify(discord.botMessages().find(({ id }) => id === message.id));
const runCommand = (name: string, options: Record<string, string>, text: string) =>
  discord.command({ name, options }).message((message) => JSON.stringify(message).includes(text));
const songsPaid = () => emulator.requests.filter(({ url }) => /music\/generate$/.test(url ?? '')).length;

it('restores a running bot’s backup elsewhere: open work ends once, and nothing is paid for twice', async () => {
  await start('old');
  const image = await runCommand('image', { prompt: 'a fox' }, 'Again');
  const waiting = await runCommand('song', { prompt: 'the first tune' }, 'Cancel');
  await expect.poll(songsPaid).toBe(1);
  const queued = await runCommand('song', { prompt: 'the second tune' }, 'turn');
  const answer = await runCommand('ask', { question: 'Why?' }, 'Again');

  await run('backup', 'old', path('copy'));
  await expect(run('backup', 'none', path('none-of-it'))).rejects.toThrow(
    /There is no database at .*DATA_DIR/,
  );
  expect(await readdir(path('copy'))).toEqual(['media', 'minstrel.jsonl']);
  const [stored = ''] = await readdir(path('copy', 'media'));
  expect((await stat(path('copy'))).mode & 0o777).toBe(0o700);
  for (const file of [path('copy', 'minstrel.jsonl'), path('copy', 'media', stored)])
    expect((await stat(file)).mode & 0o777).toBe(0o600);

  // More work is requested, and the backup updated, before the bot is killed.
  await runCommand('image', { prompt: 'a hare' }, 'Again');
  // Each image is stored as it arrived, and with its mark.
  expect((await run('backup', 'old', path('copy'))).stdout).toContain('4 files');
  const here = { PUBLIC_URL: publicUrl() };
  await expect(run('restore', 'new', path('copy'), here)).rejects.toThrow(
    /A bot is running at .*Stop it for good/,
  );
  await expect(run('restore', 'old', path('copy'))).rejects.toThrow(/A running bot uses .*minstrel\.sqlite/);
  await running?.[Symbol.asyncDispose]();
  running = undefined;
  await expect(run('restore', 'old', path('copy'))).rejects.toThrow(/There is already a database at/);

  expect((await run('restore', 'new', path('copy'), here)).stdout).toContain('Restored jobs: 5');
  expect((await stat(path('new'))).mode & 0o777).toBe(0o700);
  expect((await stat(path('new', 'minstrel.sqlite'))).mode & 0o777).toBe(0o600);
  expect(await readFile(path('new', 'media', stored))).toEqual(await readFile(path('copy', 'media', stored)));
  await start('new');
  calledBack.resolve();
  await expect.poll(() => textOf(waiting)).toContain('.mp3');
  await expect.poll(() => textOf(queued)).toContain('restored from a backup');
  expect(songsPaid()).toBe(1);
  expect(discord.botMessages().filter(({ deleted }) => !deleted)).toHaveLength(5);
  for (const finished of [image, answer]) expect(textOf(finished)).toContain('Again');
  expect(discord.refused).toEqual([]);
});

it('an operator erases the data of a person who has left', async () => {
  await running?.[Symbol.asyncDispose]();
  running = undefined;
  const person = /"person":\{"id":"(\d+)"/.exec(await readFile(path('copy', 'minstrel.jsonl'), 'utf8'))?.[1];
  if (person === undefined) throw new TypeError('the backup has jobs of a person');
  await expect(runWith('forget', 'new', ['discord', '@ada'])).rejects.toThrow(/Usage/);
  const { stdout } = await runWith('forget', 'new', ['discord', person]);
  expect(stdout).toMatch(/Deleted 5 jobs and [1-9]\d* files/);
  await run('backup', 'new', path('copy'));
  expect(await readFile(path('copy', 'minstrel.jsonl'), 'utf8')).not.toContain(person);
  expect(await readdir(path('copy', 'media'))).toEqual([]);
});
