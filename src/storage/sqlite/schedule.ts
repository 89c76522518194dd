/**
 * The schedule of one process. All state is in tables. Memory has one timer for the earliest job, so 100,000 waiting jobs cost no
 * more than their rows.
 *
 * A row with `running = 1` runs in this process or ran in a crashed one. At the start it becomes due again, as a failure.
 */
import { z } from 'zod';
import {
  checkTime,
  type RunTools,
  runJob,
  type Schedule,
  STORAGE_PAUSE,
  storeEnd,
  type WakeHandler,
} from '../schedule.ts';
import type { SqliteDatabase } from './database.ts';

const earliestRow = z.object({ at: z.number() });
const dueRow = z.object({ job: z.string(), at: z.number(), failures: z.number() });
const jobRow = z.object({ job: z.string() });

/** The longest timer, in milliseconds. Bounds the delay after the system clock is set forward. */
const LONGEST_WAIT = 60_000;

interface Running {
  readonly handler: WakeHandler;
  readonly concurrency: number;
  readonly stopping: AbortController;
}

export interface SqliteSchedule extends Schedule {
  /** {@link Schedule.add} within a transaction. Call {@link setTimer} afterwards. */
  insert(job: string, at: number): void;
  /** {@link Schedule.wake} within a transaction. Call {@link setTimer} afterwards. */
  insertWake(job: string, at: number): void;
  /** Sets the timer for a newly scheduled job, if it is the earliest. */
  setTimer(at: number): void;
}

export function sqliteSchedule(database: SqliteDatabase, tools: RunTools): SqliteSchedule {
  const { clock, log } = tools;
  const statements = database.prepareAll({
    add: 'INSERT INTO schedule (job, at) VALUES (?, ?) ON CONFLICT DO NOTHING',
    // A job that is already due is not written.
    wake: `INSERT INTO schedule (job, at) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET at = excluded.at WHERE at IS NULL OR at > excluded.at`,
    free: `UPDATE schedule SET running = 0, failures = failures + 1, at = min(coalesce(at, ?1), ?1)
       WHERE running = 1`,
    earliest: 'SELECT at FROM schedule WHERE running = 0 ORDER BY at LIMIT 1',
    due: 'SELECT job, at, failures FROM schedule WHERE running = 0 AND at <= ? ORDER BY at LIMIT ?',
    claim: 'UPDATE schedule SET running = 1, at = NULL WHERE job = ?',
    again: `UPDATE schedule SET running = 0, failures = :failures, at = min(coalesce(at, :at), :at)
       WHERE job = :job`,
    woken: 'UPDATE schedule SET running = 0, failures = 0 WHERE job = ? AND at IS NOT NULL',
    unscheduled: 'SELECT value AS job FROM json_each(?) WHERE value NOT IN (SELECT job FROM schedule)',
    remove: 'DELETE FROM schedule WHERE job = ?',
  });
  const runs = new Set<Promise<void>>();
  let running: Running | undefined;
  let claim: Promise<void> | undefined;
  let timer: { readonly at: number; readonly cancel: () => void } | undefined;

  /** Claims due jobs, or sets the timer for the next one. Safe to call at any time. */
  function poll(): void {
    if (running === undefined || claim !== undefined) return;
    const free = running.concurrency - runs.size;
    if (free <= 0) return;
    try {
      const earliest = database.get(statements.earliest, earliestRow);
      const now = clock.now();
      if (earliest === undefined || earliest.at > now) replaceTimer(earliest?.at);
      else claim = claimDue(running, now, free);
    } catch (error) {
      storageFailed(error);
    }
  }

  async function claimDue({ handler, stopping: { signal } }: Running, now: number, free: number) {
    let due: z.infer<typeof dueRow>[] = [];
    try {
      due = await database.write(() => {
        const jobs = database.all(statements.due, dueRow, now, free);
        for (const { job } of jobs) statements.claim.run(job);
        return jobs;
      });
    } catch (error) {
      storageFailed(error);
      return;
    } finally {
      claim = undefined;
    }
    for (const job of due) {
      const started = run(job, handler, signal);
      runs.add(started);
      void started.then(() => {
        runs.delete(started);
        poll();
      });
    }
    poll();
  }

  async function run(
    { job, at: dueAt, failures }: z.infer<typeof dueRow>,
    handler: WakeHandler,
    signal: AbortSignal,
  ): Promise<void> {
    // No other process uses the file.
    const due = { job, failures, dueAt: async () => dueAt, isHeld: () => true };
    const { at, failures: failed } = await runJob(due, handler, signal, tools);
    const store = () =>
      database.write(() => {
        if (at !== undefined) statements.again.run({ job, at, failures: failed });
        else if (statements.woken.run(job).changes === 0) statements.remove.run(job);
      });
    // If this fails, the job is due again at the next start.
    await storeEnd(job, store, signal, tools);
  }

  function storageFailed(error: unknown): void {
    log.error({ err: error }, 'Could not read the schedule; retrying');
    if (running !== undefined) replaceTimer(clock.now() + STORAGE_PAUSE);
  }

  function replaceTimer(at: number | undefined): void {
    timer?.cancel();
    timer = undefined;
    if (at === undefined) return;
    const wait = Math.min(LONGEST_WAIT, Math.max(0, at - clock.now()));
    const cancel = clock.after(Math.ceil(wait), () => {
      timer = undefined;
      poll();
    });
    timer = { at, cancel };
  }

  function setTimer(at: number): void {
    if (timer === undefined || at < timer.at) poll();
  }

  return {
    insert: (job, at) => void statements.add.run(job, at),
    insertWake: (job, at) => void statements.wake.run(job, at),
    setTimer,
    async add(job, at) {
      checkTime(at);
      await database.write(() => statements.add.run(job, at));
      setTimer(at);
    },
    async wake(job) {
      const now = clock.now();
      await database.write(() => statements.wake.run(job, now));
      setTimer(now);
    },
    unscheduled: async (jobs) =>
      database.all(statements.unscheduled, jobRow, JSON.stringify(jobs)).map(({ job }) => job),
    async start(handler, { concurrency }) {
      if (running !== undefined) throw new Error('The schedule is already running.');
      // Set first, so that a second start is refused while this one frees jobs of a crashed process.
      running = { handler, concurrency, stopping: new AbortController() };
      try {
        const now = clock.now();
        await database.write(() => statements.free.run(now));
      } catch (error) {
        running = undefined;
        throw error;
      }
      poll();
    },
    async stop() {
      running?.stopping.abort();
      running = undefined;
      replaceTimer(undefined);
      await claim;
      await Promise.all(runs);
    },
  };
}
