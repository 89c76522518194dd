/**
 * Wake-ups of one process. All state is in the table; memory holds one timer, set for the earliest wish, so that a
 * hundred thousand waiting jobs cost no more than their rows.
 *
 * A row with `handling = 1` is a handler at work, or one that died with its process: starting sets it free again.
 */
import { z } from 'zod';
import type { Log } from '../command.ts';
import { handlerPause } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { checkWish, type WakeHandler, type WakeUps } from './storage.ts';

const earliestRow = z.object({ at: z.number() }).optional();
const claimedRows = z.array(z.object({ job: z.string(), failures: z.number() }));
const forgottenRows = z.array(z.object({ job: z.string() }));
type Claimed = z.infer<typeof claimedRows>[number];

/** The longest timer: a system clock that was set forward is noticed after this long. */
const LONGEST_WAIT = 60_000;
/** Pause before storage that failed is tried again. */
const STORAGE_PAUSE = 1_000;

interface Running {
  readonly handler: WakeHandler;
  readonly concurrency: number;
  readonly stopping: AbortController;
}

export class SqliteWakeUps implements WakeUps {
  readonly #database: SqliteDatabase;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Log;
  readonly #statements;
  readonly #handlings = new Set<Promise<void>>();
  #running: Running | undefined;
  #claim: Promise<void> | undefined;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(
    database: SqliteDatabase,
    { clock, random, log }: { clock: Clock; random: () => number; log: Log },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
    this.#statements = {
      wake: database.prepare(
        `INSERT INTO wake_ups (job, at) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET at = min(coalesce(at, excluded.at), excluded.at)`,
      ),
      free: database.prepare(
        'UPDATE wake_ups SET handling = 0, at = min(coalesce(at, ?1), ?1) WHERE handling = 1',
      ),
      earliest: database.prepare('SELECT at FROM wake_ups WHERE handling = 0 ORDER BY at LIMIT 1'),
      claim: database.prepare(
        `UPDATE wake_ups SET handling = 1, at = NULL WHERE job IN
           (SELECT job FROM wake_ups WHERE handling = 0 AND at <= ? ORDER BY at LIMIT ?)
         RETURNING job, failures`,
      ),
      again: database.prepare(
        `UPDATE wake_ups SET handling = 0, failures = :failures, at = min(coalesce(at, :at), :at)
         WHERE job = :job`,
      ),
      wished: database.prepare(
        'UPDATE wake_ups SET handling = 0, failures = 0 WHERE job = ? AND at IS NOT NULL',
      ),
      forgotten: database.prepare(
        'SELECT value AS job FROM json_each(?) WHERE value NOT IN (SELECT job FROM wake_ups)',
      ),
      forget: database.prepare('DELETE FROM wake_ups WHERE job = ?'),
    };
  }

  async wake(job: string, at: number): Promise<void> {
    checkWish(at);
    await this.#database.write(() => this.#statements.wake.run(job, at));
    if (this.#timer === undefined || at < this.#timer.at) this.#look();
  }

  async forgotten(jobs: readonly string[]): Promise<string[]> {
    const rows = this.#database.read(() => this.#statements.forgotten.all(JSON.stringify(jobs)));
    return forgottenRows.parse(rows).map(({ job }) => job);
  }

  async start(handler: WakeHandler, { concurrency }: { concurrency: number }): Promise<void> {
    if (this.#running !== undefined) throw new Error('Wake-ups are handled already.');
    // Set first, so that a second start while this one frees what a crash left is refused.
    const running: Running = { handler, concurrency, stopping: new AbortController() };
    this.#running = running;
    try {
      const now = this.#clock.now();
      await this.#database.write(() => this.#statements.free.run(now));
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
    this.#look();
  }

  async stop(): Promise<void> {
    this.#running?.stopping.abort();
    this.#running = undefined;
    this.#setTimer(undefined);
    await this.#claim;
    await Promise.all(this.#handlings);
  }

  /** Claims what is due and sets the timer for what is next. Harmless at any time. */
  #look(): void {
    const running = this.#running;
    if (running === undefined || this.#claim !== undefined) return;
    const free = running.concurrency - this.#handlings.size;
    if (free <= 0) return;
    try {
      const earliest = earliestRow.parse(this.#database.read(() => this.#statements.earliest.get()));
      const now = this.#clock.now();
      if (earliest === undefined || earliest.at > now) {
        this.#setTimer(earliest?.at);
        return;
      }
      this.#claim = this.#claimDue(running, now, free);
    } catch (error) {
      this.#storageFailed(error);
    }
  }

  async #claimDue(running: Running, now: number, free: number): Promise<void> {
    let claimed: Claimed[] = [];
    try {
      claimed = claimedRows.parse(await this.#database.write(() => this.#statements.claim.all(now, free)));
    } catch (error) {
      this.#claim = undefined;
      this.#storageFailed(error);
      return;
    }
    this.#claim = undefined;
    // Claimed but not handled is the same as a crash: the next start sees to it.
    if (running.stopping.signal.aborted) return;
    for (const wakeUp of claimed) this.#track(this.#handle(running, wakeUp));
    this.#look();
  }

  #track(handling: Promise<void>): void {
    this.#handlings.add(handling);
    void handling.then(() => {
      this.#handlings.delete(handling);
      this.#look();
    });
  }

  async #handle(running: Running, { job, failures }: Claimed): Promise<void> {
    const { signal } = running.stopping;
    try {
      const next = await running.handler(job, signal);
      if (next !== undefined) checkWish(next);
      await this.#settle(signal, job, { at: next, failures: 0 });
    } catch (error) {
      if (signal.aborted) {
        await this.#settle(signal, job, { at: this.#clock.now(), failures });
        return;
      }
      this.#log.error({ err: error, job }, 'Handling a job failed; it will be tried again');
      const pause = handlerPause(failures + 1, this.#random);
      await this.#settle(signal, job, { at: this.#clock.now() + pause, failures: failures + 1 });
    }
  }

  /** Records the end of a handling, for as long as it takes. Unrecorded at the stop, the next start handles it again. */
  async #settle(
    signal: AbortSignal,
    job: string,
    { at, failures }: { at: number | undefined; failures: number },
  ): Promise<void> {
    const { again, wished, forget } = this.#statements;
    for (;;) {
      try {
        await this.#database.write(() => {
          if (at !== undefined) again.run({ job, at, failures });
          else if (wished.run(job).changes === 0) forget.run(job);
        });
        return;
      } catch (error) {
        this.#log.error({ err: error, job }, 'The end of a handling could not be stored');
        if (signal.aborted) return;
        await this.#pause(signal, STORAGE_PAUSE);
      }
    }
  }

  #pause(signal: AbortSignal, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(milliseconds, done);
      signal.addEventListener('abort', done, { once: true });
      function done() {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      }
    });
  }

  #storageFailed(error: unknown): void {
    this.#log.error({ err: error }, 'Wake-ups could not be read; trying again');
    if (this.#running !== undefined) this.#setTimer(this.#clock.now() + STORAGE_PAUSE);
  }

  #setTimer(at: number | undefined): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    const wait = Math.min(LONGEST_WAIT, Math.max(0, at - this.#clock.now()));
    const cancel = this.#clock.after(Math.ceil(wait), () => {
      this.#timer = undefined;
      this.#look();
    });
    this.#timer = { at, cancel };
  }
}
