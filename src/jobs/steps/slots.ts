/** Slots at the gateway, limited per family across all replicas, and the queue of jobs that wait for one. */

import type { Job } from '../../core/job.ts';
import { jitter } from '../../core/util/backoff.ts';
import { familyOf } from '../../settings/limits/meter.ts';
import { isUnreadableRecord } from '../../storage/job-record.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';

/** How often the first jobs in the queue check for a slot. Jobs further back check less often, so that a long queue costs little. */
const ASK_AGAIN_MS = 10_000;
const LONGEST_PAUSE_MS = 30 * 60_000;
/** Songs time out upstream after 10 minutes; videos take 1 to 5. */
const SLOT_MS = 10 * 60_000;
/** For requests that the gateway may not have accepted: the duration of most work. */
const UNCERTAIN_SLOT_MS = 3 * 60_000;

export type Slots = ReturnType<typeof createSlots>;

export function createSlots({
  storage,
  concurrency,
  now,
  random,
}: Pick<JobDependencies, 'storage' | 'concurrency' | 'now' | 'random'>) {
  const queueOf = ({ work }: Pick<Job, 'work'>) => {
    const queue = familyOf(work);
    return { queue, limit: concurrency[queue] };
  };

  async function release(queue: string, job: string, limit: number): Promise<void> {
    for (const next of await storage.semaphores.release(queue, job, limit)) await storage.schedule.wake(next);
  }

  async function needsSlot(id: string): Promise<boolean> {
    try {
      const state = (await storage.jobs.read(id))?.state;
      return state === 'accepted' || state === 'submitting' || state === 'waiting';
    } catch (error) {
      if (!isUnreadableRecord(error)) throw error;
      return false;
    }
  }

  return {
    /** Gives the job a slot or a position in the queue, which it keeps until `release`, even through crashes. Throws StorageError. */
    async acquire(run: JobRun): Promise<void> {
      const { queue, limit } = queueOf(run.job);
      const position = await storage.semaphores.acquire(queue, run.job.id, limit);
      if (position === (run.job.queuePosition ?? 0)) return;
      run.apply(position === 0 ? { type: 'started', at: now() } : { type: 'queued', position });
    },

    /** When a queued job checks again, in milliseconds since the epoch. A free slot wakes it earlier. */
    nextCheckAt(job: Job): number {
      const rounds = Math.max(1, (job.queuePosition ?? 1) / queueOf(job).limit);
      return now() + jitter(Math.min(ASK_AGAIN_MS * rounds, LONGEST_PAUSE_MS), random);
    },

    /** Releases the slot and wakes the next jobs. Idempotent. Throws StorageError. */
    async release(job: Pick<Job, 'id' | 'work'>): Promise<void> {
      const { queue, limit } = queueOf(job);
      await release(queue, job.id, limit);
    },

    /** Releases the slots of jobs that have ended, were erased or are unreadable. Throws StorageError. */
    async reclaim(): Promise<void> {
      for (const [queue, limit] of Object.entries(concurrency)) {
        for (const id of await storage.semaphores.holdersAndNext(queue, limit)) {
          if (!(await needsSlot(id))) await release(queue, id, limit);
        }
      }
    },
  };
}

/** When a waiting job gives up its slot, in milliseconds since the epoch. The gateway is then unlikely to be still working on it. */
export function slotExpiresAt({ submittedAt, createdAt, taskId }: Job): number {
  return (submittedAt ?? createdAt) + (taskId === undefined ? UNCERTAIN_SLOT_MS : SLOT_MS);
}
