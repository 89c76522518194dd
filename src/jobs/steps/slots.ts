/** The slots at the gateway, so many for each family over all replicas, and the line of jobs that wait for one. */

import type { Job } from '../../core/job.ts';
import { jitter } from '../../core/util/backoff.ts';
import { familyOf } from '../../settings/limits/meter.ts';
import { isUnreadableRecord } from '../../storage/job-record.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';

/** The first in line ask this often, those behind them more rarely, so that a long line costs little. */
const ASK_AGAIN_MS = 10_000;
const LONGEST_PAUSE_MS = 30 * 60_000;
/** Songs end upstream after 10 minutes at the latest, finished or failed; videos take 1 to 5. */
const SLOT_MS = 10 * 60_000;
/** If it is unknown whether the gateway took the work: the time that most work takes. */
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
    /**
     * Gives the job a slot, or its position in line. It keeps what it has until `release`, through crashes too. Throws
     * StorageError.
     */
    async acquire(run: JobRun): Promise<void> {
      const { queue, limit } = queueOf(run.job);
      const position = await storage.semaphores.acquire(queue, run.job.id, limit);
      if (position === (run.job.queuePosition ?? 0)) return;
      run.apply(position === 0 ? { type: 'started', at: now() } : { type: 'queued', position });
    },

    /** When a job that waits in line asks again by itself, in milliseconds since the epoch; a free slot wakes it before. */
    whenToAskAgain(job: Job): number {
      const rounds = Math.max(1, (job.queuePosition ?? 1) / queueOf(job).limit);
      return now() + jitter(Math.min(ASK_AGAIN_MS * rounds, LONGEST_PAUSE_MS), random);
    },

    /** Gives the slot up and wakes those who are next. Safe to repeat. Throws StorageError. */
    async release(job: Pick<Job, 'id' | 'work'>): Promise<void> {
      const { queue, limit } = queueOf(job);
      await release(queue, job.id, limit);
    },

    /** Frees the slots of jobs that are over, were erased or cannot be read. Throws StorageError. */
    async reclaim(): Promise<void> {
      for (const [queue, limit] of Object.entries(concurrency)) {
        for (const id of await storage.semaphores.holdersAndNext(queue, limit)) {
          if (!(await needsSlot(id))) await release(queue, id, limit);
        }
      }
    },
  };
}

/**
 * Until when a job that waits for the gateway keeps its slot, in milliseconds since the epoch. After that it is
 * still waited for, but hardly any work is done for it.
 */
export function slotHeldUntil({ submittedAt, createdAt, taskId }: Job): number {
  return (submittedAt ?? createdAt) + (taskId === undefined ? UNCERTAIN_SLOT_MS : SLOT_MS);
}
