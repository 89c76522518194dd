/** Finds what no timer and no callback would bring back: the last resort behind wake-ups that were lost. */
import { setImmediate as others } from 'node:timers/promises';
import type { JobDependencies } from './dependencies.ts';
import { reclaimPlaces } from './queue.ts';

const EVERY_MS = 10 * 60_000;
const PAGE = 500;
/** Jobs woken a second, so that what was lost together does not come back together. */
const WOKEN_PER_SECOND = 20;
/** Not before a job that is just being stored has its own wish. */
const GRACE_MS = 10_000;

export interface Sweeping {
  /** Jobs whose record this version cannot read: waking them does not help. */
  readonly isUnreadable: (job: string) => boolean;
}

/** Sweeps now and every ten minutes, until the signal. Never rejects. */
export async function sweepRegularly(
  sweeping: Sweeping,
  signal: AbortSignal,
  d: JobDependencies,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep(sweeping, signal, d);
    } catch (error) {
      if (!signal.aborted) d.log.warn({ err: error }, 'Open jobs could not be swept; the next sweep will');
    }
    await d.sleep(EVERY_MS * (0.9 + d.random() * 0.2), signal);
  }
}

async function sweep({ isUnreadable }: Sweeping, signal: AbortSignal, d: JobDependencies): Promise<void> {
  await reclaimPlaces(d);
  let woken = 0;
  const wake = async (page: readonly string[]): Promise<void> => {
    for (const id of await d.storage.wakeUps.forgotten(page)) {
      if (signal.aborted) return;
      if (isUnreadable(id)) continue;
      d.log.warn({ job: id }, 'An open job had no wake-up');
      await d.storage.wakeUps.wake(id, d.now() + GRACE_MS + (woken * 1_000) / WOKEN_PER_SECOND);
      woken += 1;
    }
    await others();
  };
  let page: string[] = [];
  for await (const id of d.storage.jobs.open()) {
    if (signal.aborted) return;
    page.push(id);
    if (page.length < PAGE) continue;
    await wake(page);
    page = [];
  }
  await wake(page);
}
