/** Schedules open jobs without a timer, as a last resort for lost timers. */
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { jitter } from '../../core/util/backoff.ts';
import { isUnreadableRecord } from '../../storage/job-record.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { Slots } from '../steps/slots.ts';
import { applyEvent } from './run.ts';

const EVERY_MS = 10 * 60_000;
const PAGE = 500;
/** Spreads the load after many timers were lost at once. */
const WOKEN_PER_SECOND = 20;
/** Leaves time for a job that is just being stored to get its timer. */
const GRACE_MS = 10_000;

interface SweepParts
  extends Pick<JobDependencies, 'storage' | 'sleep' | 'random' | 'now' | 'measure' | 'log'> {
  readonly slots: Slots;
  /** True if this version cannot read the job's record, so that waking it is useless. */
  readonly isUnreadable: (job: string) => boolean;
}

/** Sweeps now and every ten minutes, until the signal aborts. Never rejects. */
export async function sweepRegularly(parts: SweepParts, signal: AbortSignal): Promise<void> {
  const { storage, slots, isUnreadable, sleep, random, now, log } = parts;
  async function sweep(): Promise<void> {
    await slots.reclaim();
    let wokenCount = 0;
    const wake = async (page: readonly string[]): Promise<void> => {
      for (const id of await storage.schedule.unscheduled(page)) {
        if (signal.aborted) return;
        if (isUnreadable(id)) continue;
        log.warn({ job: id }, 'Found an open job without a timer');
        try {
          // Only the lost timer knew whether its last run was interrupted.
          await applyEvent(id, { type: 'recorded', fields: { mayHavePosted: true } }, parts);
        } catch (error) {
          // Its run marks it as unreadable.
          if (!isUnreadableRecord(error)) throw error;
        }
        await storage.schedule.add(id, now() + GRACE_MS + (wokenCount * 1_000) / WOKEN_PER_SECOND);
        wokenCount += 1;
      }
      await yieldToEvents();
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
