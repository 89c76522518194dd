/** Timers of records in settings: one for each record of a kind that has something to do at a time, such as schedules. */
import type { Log } from '../core/telemetry/log.ts';
import { own } from '../core/util/own.ts';
import type { OtherTimers } from '../jobs/jobs.ts';
import type { RunLease } from '../storage/schedule.ts';
import type { Storage } from '../storage/storage.ts';

/** Runs the due work of the record with a key. Resolves to the time of the next run. Safe to repeat. */
export type RunRecord = (key: string, lease: Pick<RunLease, 'interrupted'>) => Promise<number | undefined>;

export interface TimerStorage {
  readonly schedule: Pick<Storage['schedule'], 'wake'>;
  readonly settings: Pick<Storage['settings'], 'keys'>;
}

export interface Timers extends OtherTimers {
  /** Sets the timers of all records, which a restored backup does not have. */
  setAll(): Promise<void>;
}

/** Creates the timers of records by their kind, which is the first part of their keys. */
export function createTimers(
  runs: Readonly<Record<string, RunRecord>>,
  { storage, log }: { readonly storage: TimerStorage; readonly log: Log },
): Timers {
  const runOf = (timer: string) => own(runs, timer.slice(0, timer.indexOf('-')));
  return {
    owns: (timer) => runOf(timer) !== undefined,
    run: async (timer, _signal, lease) => runOf(timer)?.(keyOf(timer), lease),

    async setAll() {
      try {
        // One scan for all kinds: on Redis, each reads the names of all keys.
        for await (const key of storage.settings.keys())
          if (own(runs, kindOf(key))) await wakeRecord(key, storage);
      } catch (error) {
        log.error({ err: error }, 'Could not set the timers of schedules and contests until the next start');
      }
    },
  };
}

/** Runs the due work of a record now. */
export const wakeRecord = (key: string, { schedule }: Pick<TimerStorage, 'schedule'>): Promise<void> =>
  schedule.wake(timerOf(key));

const kindOf = (key: string): string => key.slice(0, key.indexOf(':'));

/** Letters, digits and dashes only, as timers require. The kind separates them from timers of jobs. */
const timerOf = (key: string): string => `${kindOf(key)}-${Buffer.from(key).toString('hex')}`;

const keyOf = (timer: string): string => Buffer.from(timer.slice(timer.indexOf('-') + 1), 'hex').toString();
