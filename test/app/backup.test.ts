import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUp } from '../../src/app/backup/create.ts';
import { restore } from '../../src/app/backup/restore.ts';
import { readConfig } from '../../src/app/config/read.ts';
import { openStorage } from '../../src/app/services.ts';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';

const tools = { log: new RecordingLog(), random: Math.random, fetch };

describe.runIf(noRedis === undefined)(noRedis ?? 'a backup from Redis', () => {
  it('restores only into an empty Redis', async () => {
    const [first, second] = [await startRedisServer(), await startRedisServer()];
    const directory = await mkdtemp(join(tmpdir(), 'minstrel-redis-backup-'));
    onTestFinished(async () => {
      await Promise.all([first.dispose(), second.dispose()]);
      await rm(directory, { recursive: true, force: true });
    });
    const configOn = (url: string) => readConfig({ REDIS_URL: url, DATA_DIR: join(directory, 'data') });
    const folder = join(directory, 'copy');
    const before = await openStorage(configOn(first.url), tools);
    await before.secret('signing', () => 'the secret');
    await before.jobs.create(songJob({ id: 'begun', state: 'waiting' }));
    await before.jobs.create(songJob({ id: 'queued', state: 'accepted' }));

    // A running bot has the storage open.
    expect(await backUp(folder, configOn(first.url), tools)).toMatchObject({ media: { files: 0 } });
    await before.close();
    await expect(restore(folder, configOn(first.url), tools)).rejects.toThrow(
      /Redis at REDIS_URL already contains jobs/,
    );
    expect(await restore(folder, configOn(second.url), tools)).toMatchObject({ jobs: 2, secrets: 1 });
    const after = await openStorage(configOn(second.url), tools);
    expect(await after.secret('signing', () => 'another')).toBe('the secret');
    expect(await after.jobs.read('begun')).toMatchObject({ state: 'waiting', restored: true });
    expect(await after.jobs.read('queued')).toMatchObject({ state: 'ready', end: 'failed' });
    await after.close();

    // A backup from Redis restores into a file.
    const file = readConfig({ DATA_DIR: join(directory, 'data') });
    expect(await restore(folder, file, tools)).toMatchObject({ jobs: 2 });
    expect(await readFile(join(directory, 'data', 'minstrel.sqlite'))).not.toHaveLength(0);
  });
});

it('refuses to restore over existing files or from an incomplete backup', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-backup-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = (...parts: string[]) => join(directory, ...parts);
  const configOf = (data: string) => readConfig({ DATA_DIR: path(data) });
  const restoreInto = (folder: string, data: string) => restore(path(folder), configOf(data), tools);
  const storage = await openStorage(configOf('old'), tools);
  await storage.jobs.create(songJob({ id: 'begun', state: 'waiting' }));
  await storage.close();
  const name = `${createHash('sha256').update('rain').digest('hex')}.mp3`;
  await mkdir(path('old', 'media'));
  await writeFile(path('old', 'media', name), 'rain');
  expect(await backUp(path('copy'), configOf('old'), tools)).toMatchObject({ media: { files: 1 } });
  expect((await stat(path('copy', 'minstrel.jsonl'))).mode & 0o777).toBe(0o600);

  await mkdir(path('left'));
  await writeFile(path('left', 'minstrel.sqlite-wal'), 'a log without its database');
  await expect(restoreInto('copy', 'left')).rejects.toThrow(
    /minstrel\.sqlite-wal belongs to another database/,
  );
  await expect(restoreInto('copy', 'old')).rejects.toThrow(/There is already a database at/);

  await mkdir(path('broken', 'media'), { recursive: true });
  await expect(restoreInto('broken', 'empty')).rejects.toThrow(/is not a complete backup/);
  const lines = await readFile(path('copy', 'minstrel.jsonl'), 'utf8');
  await writeFile(path('broken', 'minstrel.jsonl'), lines.slice(0, -20));
  await expect(restoreInto('broken', 'empty')).rejects.toThrow(/ends too early|not valid JSON/);
  expect(await readdir(path('empty'))).toEqual([]);

  await writeFile(path('broken', 'minstrel.jsonl'), lines);
  await writeFile(path('broken', 'media', name), 'not what the name says');
  expect((await restoreInto('broken', 'empty')).media).toMatchObject({ damaged: [name] });
  expect(await readdir(path('empty', 'media'))).toEqual([]);

  await writeFile(path('broken', 'notes.txt'), '');
  await expect(backUp(path('broken'), configOf('old'), tools)).rejects.toThrow(/contains notes\.txt/);
});
