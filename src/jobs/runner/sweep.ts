/** Schedules open jobs that have no timer: the last resort for timers that were lost. */
import { setImmediate as others } from 'node:timers/promises';
import type { JobDependencies } from '../dependencies.ts';
import { reclaimSlots } from '../steps/begin.ts';
import { applyEvent, isUnreadableRecord } from './run.ts';

const EVERY_MS = 10 * 60_000;
const PAGE = 500;
/** Jobs woken a second, so that what was lost together does not come back together. */
const WOKEN_PER_SECOND = 20;
/** Not before a job that is just being stored has its own time. */
const GRACE_MS = 10_000;

type SweepDependencies = Omit<JobDependencies, 'invoke'>;

/**
 * Sweeps now and every ten minutes, until the signal. Never rejects.
 * @param isUnreadable whether this version cannot read the record of a job: waking it does not help
 */
export async function sweepRegularly(
  isUnreadable: (job: string) => boolean,
  signal: AbortSignal,
  deps: SweepDependencies,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep(isUnreadable, signal, deps);
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error }, 'Open jobs could not be swept; the next sweep will');
    }
    await deps.sleep(EVERY_MS * (0.9 + deps.random() * 0.2), signal);
  }
}

async function sweep(
  isUnreadable: (job: string) => boolean,
  signal: AbortSignal,
  deps: SweepDependencies,
): Promise<void> {
  await reclaimSlots(deps);
  let woken = 0;
  const wake = async (page: readonly string[]): Promise<void> => {
    for (const id of await deps.storage.schedule.unscheduled(page)) {
      if (signal.aborted) return;
      if (isUnreadable(id)) continue;
      deps.log.warn({ job: id }, 'An open job had no timer');
      try {
        // Whether its last run ended was lost with the timer.
        await applyEvent(id, { type: 'recorded', fields: { mayHavePosted: true } }, deps.storage);
      } catch (error) {
        // Its run finds out, and from then on it is left alone.
        if (!isUnreadableRecord(error)) throw error;
      }
      await deps.storage.schedule.add(id, deps.now() + GRACE_MS + (woken * 1_000) / WOKEN_PER_SECOND);
      woken += 1;
    }
    await others();
  };
  let page: string[] = [];
  for await (const id of deps.storage.jobs.open()) {
    if (signal.aborted) return;
    page.push(id);
    if (page.length < PAGE) continue;
    await wake(page);
    page = [];
  }
  await wake(page);
}
