import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts';
import { type SqliteSchedule, sqliteSchedule } from '../../../src/storage/sqlite/schedule.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { ManualClock } from '../manual-clock.ts';
import { RecordingLog } from '../recording-log.ts';

let clock: ManualClock;
let database: SqliteDatabase;
let schedule: SqliteSchedule;
let log: RecordingLog;

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordingLog();
  database = new SqliteDatabase(':memory:');
  // The middle of the jitter.
  schedule = sqliteSchedule(database, { clock, random: () => 0.5, log });
});
afterEach(async () => {
  await schedule.stop();
  database.close();
});

/** Waits for pending commits and handlers, which need turns of the event loop but no time. */
async function settled(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await new Promise(setImmediate);
}

async function handledBy(answer: (job: string) => Promise<number | undefined>): Promise<string[]> {
  const handled: string[] = [];
  await schedule.start(
    (job) => {
      handled.push(job);
      return answer(job);
    },
    { concurrency: 8 },
  );
  return handled;
}

test('retries a failing handler after 1 s, doubling to a minute', async () => {
  const handled = await handledBy(async () => {
    throw new Error('no luck');
  });
  await schedule.wake('a');
  const pauses: number[] = [];
  for (let failures = 1; failures <= 9; failures += 1) {
    await expect.poll(() => handled).toHaveLength(failures);
    await settled();
    const next = clock.next ?? Number.NaN;
    pauses.push(next - clock.now());
    clock.advance(next - clock.now());
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  expect(log.lines[0]).toMatchObject({ level: 'error', fields: { job: 'a' } });
});

test('a success resets the pause', async () => {
  const outcomes = ['throw', 'throw', 'end', 'throw', 'end'];
  const handled = await handledBy(async () => {
    if (outcomes.shift() === 'throw') throw new Error('no luck');
    return outcomes.length > 0 ? clock.now() + 5_000 : undefined;
  });
  const pauses: number[] = [];
  await schedule.wake('a');
  for (let times = 1; times <= 4; times += 1) {
    await expect.poll(() => handled).toHaveLength(times);
    await settled();
    const next = clock.next ?? Number.NaN;
    pauses.push(next - clock.now());
    clock.advance(next - clock.now());
  }
  await expect.poll(() => handled).toHaveLength(5);
  expect(pauses).toEqual([1_000, 2_000, 5_000, 1_000]);
});

test('a wake interrupts the pause of a failing handler', async () => {
  const outcomes = ['throw', 'end'];
  const handled = await handledBy(async () => {
    if (outcomes.shift() === 'throw') throw new Error('no luck');
    return undefined;
  });
  await schedule.wake('a');
  await expect.poll(() => handled).toHaveLength(1);
  await settled();
  await schedule.wake('a');
  await expect.poll(() => handled).toHaveLength(2);
});

test('handles jobs at their time and in order', async () => {
  const handled = await handledBy(async () => undefined);
  await schedule.add('third', clock.now() + 3_000);
  await schedule.add('first', clock.now() + 1_000);
  await schedule.add('second', clock.now() + 2_000);
  clock.advance(999);
  await settled();
  expect(handled).toEqual([]);
  for (const expected of [['first'], ['first', 'second'], ['first', 'second', 'third']]) {
    clock.advance(expected.length === 1 ? 1 : 1_000);
    await settled();
    expect(handled).toEqual(expected);
  }
});

test('100,000 waiting jobs need one timer', async () => {
  const handled = await handledBy(async () => undefined);
  await Promise.all(
    Array.from({ length: 100_000 }, (_, index) => schedule.add(`job${index}`, clock.now() + 60_000 + index)),
  );
  expect(clock.timers).toBe(1);
  clock.advance(60_000 + 9);
  await expect.poll(() => handled).toHaveLength(10);
  await settled();
  expect(clock.timers).toBe(1);
});

test('a job scheduled far in the future runs on its day', async () => {
  const handled = await handledBy(async () => undefined);
  const days = 60 * 24 * 3_600_000;
  await schedule.add('a', clock.now() + days);
  // The clock jumps forward, as after the machine was asleep. The schedule notices within a minute.
  for (const jump of [days - 60_000, 60_000]) {
    clock.advance(jump);
    await settled();
  }
  expect(handled).toEqual(['a']);
});

test('a run is not repeated if its end cannot be stored; the end is stored later', async () => {
  const handled = await handledBy(async () => {
    vi.spyOn(database, 'write').mockRejectedValueOnce(new StorageError('full', 'The disk is full.'));
    return undefined;
  });
  const rows = () => database.prepare('SELECT running FROM schedule').all();
  await schedule.wake('a');
  await expect.poll(() => log.lines).toHaveLength(1);
  expect(log.lines[0]?.sentence).toContain('Could not record that a run ended');
  await settled();
  expect(rows()).toEqual([{ running: 1 }]);
  clock.advance(1_000);
  await expect.poll(() => rows()).toEqual([]);
  expect(handled).toEqual(['a']);
});

test('claims jobs again after a storage failure', async () => {
  const handled = await handledBy(async () => undefined);
  await schedule.add('a', clock.now() + 500);
  vi.spyOn(database, 'write').mockRejectedValueOnce(new StorageError('full', 'The disk is full.'));
  clock.advance(500);
  await expect.poll(() => log.lines).toHaveLength(1);
  clock.advance(1_000);
  await expect.poll(() => handled).toEqual(['a']);
});

test('refuses a second start', async () => {
  await handledBy(async () => undefined);
  await expect(schedule.start(async () => undefined, { concurrency: 1 })).rejects.toThrow('already');
});

test('can be started again after a stop', async () => {
  await handledBy(async () => undefined);
  await schedule.stop();
  await schedule.wake('a');
  const handled = await handledBy(async () => undefined);
  await expect.poll(() => handled).toEqual(['a']);
});

test('treats a handler that returns an invalid time as failing', async () => {
  const answers = [Number.NaN];
  const handled = await handledBy(async () => answers.shift());
  await schedule.wake('a');
  await expect.poll(() => handled).toHaveLength(1);
  await settled();
  clock.advance(1_000);
  await expect.poll(() => handled).toHaveLength(2);
});
