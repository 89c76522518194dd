import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/app/config/read.ts';
import { openMediaStore } from '../../src/app/services.ts';
import { systemOf } from '../../src/app/system.ts';
import { pageUrl } from '../../src/core/web/page-url.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { RecordingPlatform } from '../jobs/recording-platform.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT } from '../servers/program.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

const CALLBACK_SECRET = 'a secret of this test with 32 characters';
const FORGOTTEN = '80351110224678912';
const DAY_MS = 24 * 60 * 60_000;
const later = () => Date.now() + 3 * DAY_MS;

it('links answer 410 after pruning, an operator’s forget or retention', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-gone-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const emulator = await startEmulator({ speed: 0, songSeconds: 3, studio: createSampleStudio() });
  onTestFinished(() => emulator.close());
  // Chats get no links that open only on this machine.
  const platform = new RecordingPlatform('terminal');
  const platforms = [platform, new RecordingPlatform('discord')];
  const environment = { DATA_DIR: folder, CALLBACK_SECRET };
  const start = (more: Record<string, string> = {}, now = Date.now) =>
    startMinstrel({ ...environment, ...more }, { emulator, platforms, now });

  /** Resolves to the link of the song's page. */
  const makeSong = async (
    { minstrel }: RunningMinstrel,
    { platform, person }: { platform: string; person: string },
  ) => {
    const outcome = await minstrel.bot.run({
      id: `event of ${person}`,
      command: 'song',
      options: { prompt: `a tune of ${person}` },
      address: { platform, guild: 'g1', channel: 'music', public: true, person },
      person: { id: person, displayName: 'Ada', moderator: false, roles: [] },
    });
    if (outcome.type !== 'accepted') throw new TypeError(JSON.stringify(outcome));
    outcome.begin();
    await expect.poll(async () => (await minstrel.job(outcome.job))?.state).toBe('delivered');
    return pageUrl('', 'songs', outcome.job, CALLBACK_SECRET);
  };
  /** Returns the links shown in the chat. */
  const links = () =>
    [...platform.shown.values()].flatMap(({ actions = [] }) =>
      actions.flatMap((action) =>
        action.type === 'link' && action.label === 'Open page' ? [action.url] : [],
      ),
    );
  const visit = async ({ minstrel }: RunningMinstrel, link: string) => {
    const response = await fetch(minstrel.url + link);
    return `${response.status} ${/<p>(.*)<\/p>/.exec(await response.text())?.[1]}`;
  };

  let running = await start();
  onTestFinished(() => running[Symbol.asyncDispose]());
  const forgotten = await makeSong(running, { platform: 'discord', person: FORGOTTEN });
  const old = await makeSong(running, { platform: 'terminal', person: 'bob' });
  const before = links();
  expect(before).toEqual([running.minstrel.url + old]);
  for (const link of [forgotten, old]) expect(await visit(running, link)).toMatch(/^200 /);

  const { media } = readConfig({ ...environment, RETENTION_DAYS: '1' });
  const store = await openMediaStore(media, { ...systemOf(new RecordingLog()), now: later });
  expect((await store.prune()).removed).toBeGreaterThan(3);
  for (const link of [forgotten, old])
    expect(await visit(running, link)).toBe('410 The files of this song are no longer available.');

  await running[Symbol.asyncDispose]();
  const program = [MINSTREL, 'forget', 'discord', FORGOTTEN];
  const env = { ...PROGRAM_ENVIRONMENT, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder, env });
  expect(stdout).toMatch(/^Deleted 1 job and /);
  running = await start();
  expect(await visit(running, forgotten)).toMatch(/^410 This song was deleted/);
  expect(await visit(running, old)).toBe('410 The files of this song are no longer available.');

  await running[Symbol.asyncDispose]();
  running = await start({ RETENTION_DAYS: '1' }, later);
  await expect.poll(() => visit(running, old)).toMatch(/^410 This song was deleted/);
  expect(links()).toEqual(before);
});
