/** Schedules open jobs that have no timer: the last resort for timers that were lost. */
import { setImmediate as others } from 'node:timers/promises';
import { jitter } from '../../core/util/backoff.ts';
import { isUnreadableRecord } from '../../storage/job-record.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { Slots } from '../steps/slots.ts';
import { applyEvent } from './run.ts';

const EVERY_MS = 10 * 60_000;
const PAGE = 500;
/** Jobs woken a second, so that what was lost together does not come back together. */
const WOKEN_PER_SECOND = 20;
/** Not before a job that is just being stored has its own time. */
const GRACE_MS = 10_000;

interface SweepParts extends Pick<JobDependencies, 'storage' | 'sleep' | 'random' | 'now' | 'log'> {
  readonly slots: Slots;
  /** Whether this version cannot read the record of a job: waking it does not help. */
  readonly isUnreadable: (job: string) => boolean;
}

/** Sweeps now and every ten minutes, until the signal. Never rejects. */
export async function sweepRegularly(
  { storage, slots, isUnreadable, sleep, random, now, log }: SweepParts,
  signal: AbortSignal,
): Promise<void> {
  async function sweep(): Promise<void> {
    await slots.reclaim();
    let woken = 0;
    const wake = async (page: readonly string[]): Promise<void> => {
      for (const id of await storage.schedule.unscheduled(page)) {
        if (signal.aborted) return;
        if (isUnreadable(id)) continue;
        log.warn({ job: id }, 'Found an open job without a timer');
        try {
          // Whether its last run ended was lost with the timer.
          await applyEvent(id, { type: 'recorded', fields: { mayHavePosted: true } }, storage);
        } catch (error) {
          // Its run finds out, and from then on it is left alone.
          if (!isUnreadableRecord(error)) throw error;
        }
        await storage.schedule.add(id, now() + GRACE_MS + (woken * 1_000) / WOKEN_PER_SECOND);
        woken += 1;
      }
      await others();
    };
    let page: string[] = [];
    for await (const id of storage.jobs.open()) {
      if (signal.aborted) return;
      page.push(id);
      if (page.length < PAGE) continue;
      await wake(page);
      page = [];
    }
    await wake(page);
  }

  while (!signal.aborted) {
    try {
      await sweep();
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'Could not sweep open jobs; retrying at the next sweep');
    }
    await sleep(jitter(EVERY_MS, random), signal);
  }
}
