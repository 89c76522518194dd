import { chmod, mkdir, mkdtemp, open, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts';
import { openSqliteStorage, sqliteStorage } from '../../../src/storage/sqlite/open.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { songJob } from '../jobs.ts';
import { ManualClock } from '../manual-clock.ts';
import { RecordingLog } from '../recording-log.ts';
import { startReplica } from '../redis/replica-process.ts';

let folder: string;
let path: string;
let log: RecordingLog;
const opened: Storage[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minstrel-sqlite-'));
  path = join(folder, 'minstrel.sqlite');
  log = new RecordingLog();
});
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  await rm(folder, { recursive: true, force: true });
});

async function openStorage(at = path): Promise<Storage> {
  const storage = await openSqliteStorage({ path: at, clock: systemClock, random: Math.random, log });
  opened.push(storage);
  return storage;
}

/** Changes the file directly, like a damaged disk or another program. */
function tamper(sql: string): void {
  const connection = new DatabaseSync(path);
  connection.exec(sql);
  connection.close();
}

function storageError(code: string) {
  return expect.objectContaining({ name: 'StorageError', code });
}

describe('a process that is killed', () => {
  test('with kill -9 while writing loses no acknowledged data', async () => {
    for (const round of [1, 2, 3]) {
      const file = join(folder, `round${round}.sqlite`);
      const replica = await startReplica({ kind: 'sqlite', path: file }, 'write');
      await replica.waitForLine(`replaced job${round * 40}`);
      await replica.kill();
      const acknowledged = [...replica.lines];

      const storage = await openStorage(file);
      expect(acknowledged.length).toBeGreaterThan(round * 40);
      for (const line of acknowledged) {
        const [what, id = ''] = line.split(' ');
        if (what === 'created') expect(await storage.jobs.read(id)).toBeDefined();
        if (what === 'replaced') expect(await storage.jobs.read(id)).toMatchObject({ version: 2 });
        if (what === 'put') expect(await storage.inbox.read(id, 0)).toHaveLength(1);
      }
      const woken = new Set<string>();
      await storage.schedule.start(
        async (job) => {
          woken.add(job);
          return undefined;
        },
        { concurrency: 16 },
      );
      for (const line of acknowledged) {
        const [what, id = ''] = line.split(' ');
        if (what === 'woke') await expect.poll(() => woken.has(id)).toBe(true);
      }
    }
  });
});

describe('a file that another process uses', () => {
  test('is refused with instructions until that process ends', async () => {
    const replica = await startReplica({ kind: 'sqlite', path }, 'open');
    await replica.waitForLine('open');
    await expect(openStorage()).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('Stop it first'),
    });
    await replica.kill();
    await expect((await openStorage()).check()).resolves.toBeUndefined();
  });

  test('is refused under another name as well', async () => {
    await openStorage();
    const alias = join(folder, 'alias.sqlite');
    await symlink(path, alias);
    await expect(openStorage(alias)).rejects.toMatchObject({ code: 'locked' });
  });

  test('refuses a second process', async () => {
    await openStorage();
    const replica = await startReplica({ kind: 'sqlite', path }, 'open');
    await replica.waitForLine('refused locked');
    await replica.kill();
  });

  test('can be read and backed up while the bot runs', async () => {
    const storage = await openStorage();
    await storage.jobs.create(songJob({ id: 'a' }));
    const reader = new DatabaseSync(path, { readOnly: true });
    expect(reader.prepare('SELECT count(*) AS jobs FROM jobs').get()).toEqual({ jobs: 1 });
    reader.close();
  });
});

describe('a full disk', () => {
  test('is reported, leaves no partial writes, and recovers when there is space', async () => {
    // A database that may not grow fails like a full disk.
    const database = new SqliteDatabase(path);
    const storage = sqliteStorage(database, { clock: systemClock, random: Math.random, log });
    opened.push(storage);
    await storage.jobs.create(songJob({ id: 'before' }));
    database.prepare('PRAGMA max_page_count = 1').get();

    const large = 'x'.repeat(200_000);
    const results = await Promise.allSettled([
      storage.jobs.create(songJob({ id: 'large', title: large })),
      storage.receive({ job: 'before', body: large, receivedAt: 1 }),
      storage.jobs.replace(songJob({ id: 'before', title: 'small enough' })),
    ]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: storageError('full') },
      { status: 'rejected', reason: storageError('full') },
      { status: 'fulfilled', value: { version: 2 } },
    ]);
    expect(await storage.jobs.read('large')).toBeUndefined();
    expect(await storage.inbox.read('before', 0)).toEqual([]);
    expect(await storage.jobs.read('before')).toMatchObject({ title: 'small enough' });

    database.prepare('PRAGMA max_page_count = 100000').get();
    expect(await storage.jobs.create(songJob({ id: 'large', title: large }))).toBe(true);
    await storage.receive({ job: 'before', body: large, receivedAt: 1 });
    expect(await storage.inbox.read('before', 0)).toHaveLength(1);
  });
});

describe('changes at the same moment', () => {
  test('share a commit, and a failing one does not affect the others', async () => {
    const database = new SqliteDatabase(':memory:');
    const insert = database.prepare("INSERT INTO secrets (name, value) VALUES (?, 'x')");
    const results = await Promise.allSettled([
      database.write(() => insert.run('a').changes),
      database.write(() => insert.run('a').changes),
      database.write(() => insert.run('b').changes),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(database.prepare('SELECT name FROM secrets ORDER BY name').all()).toHaveLength(2);
    database.close();
  });

  test('are committed if pending when the storage is closed', async () => {
    const storage = await openStorage();
    const writes = ['a', 'b', 'c'].map((id) => storage.jobs.create(songJob({ id })));
    await storage.close();
    expect(await Promise.all(writes)).toEqual([true, true, true]);
    expect(await (await openStorage()).jobs.read('c')).toBeDefined();
  });
});

describe('a lock that a backup holds too long', () => {
  test('is waited for once by all changes at the same moment', async () => {
    const storage = await openStorage();
    const backup = new DatabaseSync(path);
    backup.exec('BEGIN IMMEDIATE');
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    try {
      const writes = ['a', 'b', 'c', 'd', 'e'].map((id) => storage.jobs.create(songJob({ id })));
      const results = await Promise.allSettled(writes);
      expect(results).toMatchObject(
        writes.map(() => ({ status: 'rejected', reason: storageError('locked') })),
      );
      expect(exec.mock.calls.filter(([sql]) => sql.startsWith('BEGIN'))).toHaveLength(1);
    } finally {
      exec.mockRestore();
      backup.exec('ROLLBACK');
      backup.close();
    }
    expect(await storage.jobs.create(songJob({ id: 'a' }))).toBe(true);
  });
});

test('other users cannot read the files, including readable ones of an older version', async () => {
  const nested = join(folder, 'own', 'minstrel.sqlite');
  const modes = async () => {
    const names = await readdir(dirname(nested));
    const found = names.map(async (name) => (await stat(join(dirname(nested), name))).mode & 0o777);
    return [...new Set(await Promise.all(found))];
  };
  const storage = await openStorage(nested);
  await storage.jobs.create(songJob({ id: 'a' }));
  expect((await stat(dirname(nested))).mode & 0o777).toBe(0o700);
  expect(await modes()).toEqual([0o600]);
  await storage.close();
  await chmod(nested, 0o644);
  await (await openStorage(nested)).close();
  expect(await modes()).toEqual([0o600]);
});

describe('a damaged file', () => {
  /** Overwrites pages in the second half, after the schema, like a failing disk. */
  async function damage(): Promise<void> {
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    for (let at = 4096 * Math.ceil(size / 8192); at < size; at += 8192)
      await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, at);
    await file.close();
  }
  const many = Array.from({ length: 200 }, (_, index) =>
    songJob({ id: `job${index}`, title: 'x'.repeat(20_000) }),
  );

  test('is refused at the start with instructions', async () => {
    const before = await openStorage();
    await Promise.all(many.map((job) => before.jobs.create(job)));
    await opened.pop()?.close();
    await damage();
    await expect(openStorage()).rejects.toMatchObject({
      code: 'schema',
      message: `The database file ${path} is damaged. Stop the bot and restore a backup.`,
    });
  });

  test('damaged later fails every check from then on', async () => {
    const storage = await openStorage();
    // More than SQLite caches in memory.
    await Promise.all(many.map((job) => storage.jobs.create(job)));
    await storage.scrub();
    await storage.check();
    await damage();
    await expect.poll(() => Array.fromAsync(storage.jobs.all()).then(String, String)).toContain('damaged');
    await expect(storage.check()).rejects.toEqual(storageError('schema'));
    await expect(storage.check()).rejects.toEqual(storageError('schema'));
    expect(log.lines.filter(({ sentence }) => sentence === 'The storage is damaged')).toHaveLength(1);
  });
});

describe('a path that cannot hold a database', () => {
  async function expectRefusal(at: string, sentence: string): Promise<void> {
    await expect(openStorage(at)).rejects.toMatchObject({ code: 'unavailable', message: sentence });
  }

  test.each(['minstrel.sqlite', 'new/minstrel.sqlite'])('is a file (%s)', async (name) => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const sentence = `${file} is not a folder: move it elsewhere, or set DATA_DIR to another folder.`;
    await expectRefusal(join(file, name), sentence);
  });

  test.each(['', '-lock'])('is one with a folder in the location of a file (%s)', async (end) => {
    await mkdir(`${path}${end}`);
    const sentence = `${path}${end} is a folder, but must be a file: move it elsewhere, or set DATA_DIR to another folder.`;
    await expectRefusal(path, sentence);
  });

  test('is behind a broken link', async () => {
    const link = join(folder, 'link');
    await symlink(join(folder, 'nowhere'), link);
    const sentence = `Cannot write to ${link} (ENOENT): make it writable, or set DATA_DIR to another folder.`;
    await expectRefusal(join(link, 'minstrel.sqlite'), sentence);
  });

  // Node's mkdir with `recursive` never returned there.
  test.skipIf(process.platform !== 'linux')('is in /proc', async () => {
    const sentence = 'Cannot write to /proc (ENOENT): make it writable, or set DATA_DIR to another folder.';
    await expectRefusal('/proc/minstrel/new/minstrel.sqlite', sentence);
  });
});

describe('the schema', () => {
  test('of another version is refused, and the file is unchanged', async () => {
    await (await openStorage()).jobs.create(songJob({ id: 'a' }));
    await opened.pop()?.close();
    tamper('PRAGMA user_version = 99');
    await expect(openStorage()).rejects.toMatchObject({
      code: 'schema',
      message: `The database file ${path} has version 99, but this Minstrel reads version 1. Use the version of Minstrel that wrote it, or set DATA_DIR to an empty folder.`,
    });
    tamper('PRAGMA user_version = 1');
    expect(await (await openStorage()).jobs.read('a')).toBeDefined();
  });

  test('of another program is not changed', async () => {
    tamper('CREATE TABLE theirs (id INTEGER)');
    await expect(openStorage()).rejects.toMatchObject({
      code: 'schema',
      message: `The database file ${path} belongs to another program.`,
    });
    const foreign = new DatabaseSync(path);
    expect(foreign.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'theirs' }]);
    foreign.close();
  });

  test('refuses a file that is not a database, twice in the same way', async () => {
    await writeFile(path, 'not a database, but long enough to look like one '.repeat(200));
    const refusal = {
      code: 'schema',
      message: `${path} is not a database: move it elsewhere, or set DATA_DIR to another folder.`,
    };
    await expect(openStorage()).rejects.toMatchObject(refusal);
    await expect(openStorage()).rejects.toMatchObject(refusal);
  });
});

describe('an unreadable record', () => {
  test('throws for its own job, is logged, and does not hide other jobs', async () => {
    const jobs = ['broken', 'changed', 'fine'];
    const first = await openStorage();
    for (const id of jobs) await first.jobs.create(songJob({ id }));
    await opened.pop()?.close();
    tamper(`UPDATE jobs SET record = '{"half' WHERE id = 'broken'`);
    tamper(`UPDATE jobs SET record = json_remove(record, '$.state') WHERE id = 'changed'`);

    const storage = await openStorage();
    await expect(storage.jobs.read('broken')).rejects.toEqual(storageError('schema'));
    await expect(storage.jobs.read('changed')).rejects.toEqual(storageError('schema'));
    const running = await storage.jobs.running({ platform: 'discord', channel: 'channel' }, 'ada');
    expect(running.map(({ id }) => id)).toEqual(['fine']);
    expect(log.lines.map(({ fields }) => fields)).toMatchObject([{ job: 'broken' }, { job: 'changed' }]);
    const open: string[] = [];
    for await (const id of storage.jobs.open()) open.push(id);
    expect(open).toEqual(jobs);
  });
});

test('deletes callbacks of ended jobs after 30 days, but never those of open jobs', async () => {
  const clock = new ManualClock();
  const storage = await openSqliteStorage({ path, clock, random: Math.random, log });
  opened.push(storage);
  const began = clock.now();
  await storage.jobs.create(songJob({ id: 'ended', state: 'delivered', finishedAt: began }));
  await storage.jobs.create(songJob({ id: 'open', createdAt: began }));
  for (const job of ['ended', 'open']) await storage.receive({ job, body: 'body', receivedAt: began });
  const lengths = async () => [
    (await storage.inbox.read('ended', 0)).length,
    (await storage.inbox.read('open', 0)).length,
  ];
  const day = 24 * 3_600_000;
  clock.advance(29 * day);
  await storage.check();
  expect(await lengths()).toEqual([1, 1]);
  clock.advance(2 * day);
  await storage.check();
  expect(await lengths()).toEqual([0, 1]);
});

test('creates the folder, and leaves the database and its lock when closed', async () => {
  const nested = join(folder, 'not', 'there', 'minstrel.sqlite');
  const storage = await openStorage(nested);
  await storage.jobs.create(songJob({ id: 'a' }));
  await storage.close();
  expect((await readdir(join(folder, 'not', 'there'))).sort()).toEqual([
    'minstrel.sqlite',
    'minstrel.sqlite-lock',
  ]);
});
