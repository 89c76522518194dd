/**
 * The schedule of one process, and its semaphores. All state is in tables; memory holds one timer, set for the earliest
 * job, so that a hundred thousand waiting jobs cost no more than their rows.
 *
 * A row with `running = 1` runs in this process, or ran in one that died: the start makes it due again, as one that failed.
 */

import type { StatementSync } from 'node:sqlite';
import { z } from 'zod';
import {
  checkTime,
  type DueJob,
  measureLateness,
  type RunTools,
  runJob,
  type Schedule,
  STORAGE_PAUSE,
  type WakeHandler,
} from '../schedule.ts';
import { QUEUE_COUNTED, type Semaphores } from '../storage.ts';
import type { SqliteDatabase } from './database.ts';

const earliestRow = z.object({ at: z.number() });
const dueRow = z.object({ job: z.string(), at: z.number(), failures: z.number() });
const jobRow = z.object({ job: z.string() });

/** The longest timer: a system clock that was set forward is found out after this long. */
const LONGEST_WAIT = 60_000;

interface Running {
  readonly handler: WakeHandler;
  readonly concurrency: number;
  readonly stopping: AbortController;
}

export interface SqliteSchedule extends Schedule {
  /** Inside a transaction: schedules the job. {@link setTimer} follows it. */
  insert(job: string, at: number): void;
  /** Makes sure that a job which was just scheduled runs in time. */
  setTimer(at: number): void;
}

export function sqliteSchedule(database: SqliteDatabase, tools: RunTools): SqliteSchedule {
  const { clock, log } = tools;
  const statements = database.prepareAll({
    // One that is not moved is not written.
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

  /** Claims what is due and sets the timer for what is next. Harmless at any time. */
  function poll(): void {
    if (running === undefined || claim !== undefined) return;
    const free = running.concurrency - runs.size;
    if (free <= 0) return;
    try {
      const earliest = database.get(statements.earliest, earliestRow);
      const now = clock.now();
      if (earliest === undefined || earliest.at > now) replaceTimer(earliest?.at);
      else {
        measureLateness(earliest.at, tools);
        claim = claimDue(running, now, free);
      }
    } catch (error) {
      storageFailed(error);
    }
  }

  async function claimDue({ handler, stopping: { signal } }: Running, now: number, free: number) {
    let due: DueJob[] = [];
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

  async function run(due: DueJob, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    const { job } = due;
    const store = (at: number | undefined, failures: number) =>
      database.write(() => {
        if (at !== undefined) statements.again.run({ job, at, failures });
        else if (statements.woken.run(job).changes === 0) statements.remove.run(job);
      });
    // Unstored, it is due again at the next start.
    // No other process has the file.
    await runJob({ ...due, isHeld: () => true }, handler, store, signal, tools);
  }

  function storageFailed(error: unknown): void {
    log.error({ err: error }, 'The schedule could not be read; trying again');
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
    insert: (job, at) => void statements.wake.run(job, at),
    setTimer,
    async wake(job, at) {
      checkTime(at);
      await database.write(() => statements.wake.run(job, at));
      setTimer(at);
    },
    unscheduled: async (jobs) =>
      database.all(statements.unscheduled, jobRow, JSON.stringify(jobs)).map(({ job }) => job),
    async start(handler, { concurrency }) {
      if (running !== undefined) throw new Error('The schedule runs already.');
      // Set first: a second start is refused while this one frees what a crash left.
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

const slotRow = z.object({ ticket: z.number(), held: z.number() }).optional();
const ticketRow = z.object({ ticket: z.number() });
const countRow = z.object({ count: z.number() });

export function sqliteSemaphores(database: SqliteDatabase): Semaphores {
  const { find, enter, held, ahead, hold, remove, next, holders } = database.prepareAll({
    find: 'SELECT ticket, held FROM semaphores WHERE queue = ? AND job = ?',
    enter: `INSERT INTO semaphores (queue, job, ticket, held)
     VALUES (?1, ?2, (SELECT coalesce(max(ticket), 0) + 1 FROM semaphores WHERE queue = ?1), 0) RETURNING ticket`,
    held: 'SELECT count(*) AS count FROM semaphores WHERE queue = ? AND held = 1',
    ahead: `SELECT count(*) AS count FROM
       (SELECT 1 FROM semaphores WHERE queue = ? AND held = 0 AND ticket < ? LIMIT ?)`,
    hold: 'UPDATE semaphores SET held = 1 WHERE queue = ? AND job = ?',
    remove: 'DELETE FROM semaphores WHERE queue = ? AND job = ?',
    next: 'SELECT job FROM semaphores WHERE queue = ? AND held = 0 ORDER BY ticket LIMIT ?',
    holders: 'SELECT job FROM semaphores WHERE queue = ? AND held = 1',
  });

  const jobs = (query: StatementSync, ...values: (string | number)[]) =>
    database.all(query, jobRow, ...values).map(({ job }) => job);
  const freeSlots = (queue: string, limit: number) => limit - countRow.parse(held.get(queue)).count;
  return {
    acquire: (queue, job, limit) =>
      database.write(() => {
        const known = slotRow.parse(find.get(queue, job));
        if (known?.held === 1) return 0;
        const { ticket } = known ?? ticketRow.parse(enter.get(queue, job));
        const free = Math.max(freeSlots(queue, limit), 0);
        const before = countRow.parse(ahead.get(queue, ticket, free + QUEUE_COUNTED)).count;
        if (before >= free) return Math.min(before - free + 1, QUEUE_COUNTED);
        hold.run(queue, job);
        return 0;
      }),
    release: (queue, job, limit) =>
      database.write(() => {
        remove.run(queue, job);
        const free = freeSlots(queue, limit);
        return free > 0 ? jobs(next, queue, free) : [];
      }),
    holdersAndNext: async (queue, limit) => [...jobs(holders, queue), ...jobs(next, queue, limit)],
  };
}
