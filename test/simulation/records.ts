/** Watches every write of a job's record: states go forward, and nothing is written back to life. */
import type { JobState } from '../../src/core/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Facts } from './promises.ts';

/** From each state to those that may follow it, as docs/architecture.md draws them, but for what only a person does. */
const FOLLOWING = {
  accepted: ['accepted', 'submitting', 'ready'],
  submitting: ['submitting', 'accepted', 'waiting', 'ready'],
  waiting: ['waiting', 'accepted', 'ready'],
  ready: ['ready', 'delivered', 'failed', 'expired', 'cancelled'],
  delivered: ['delivered'],
  failed: ['failed', 'ready'],
  expired: ['expired', 'ready'],
  cancelled: ['cancelled', 'ready'],
} as const satisfies Record<JobState, readonly JobState[]>;

/** A run of several events is written once, so states may be passed over. */
function mayFollow(from: JobState, to: JobState): boolean {
  const reached = new Set<JobState>([from]);
  for (const state of reached) for (const next of FOLLOWING[state]) reached.add(next);
  return reached.has(to);
}

export function watchRecords(storage: Storage, facts: Pick<Facts, 'broken'>): Storage {
  return {
    ...storage,
    jobs: {
      ...storage.jobs,
      async replace(job) {
        const before = await storage.jobs.read(job.id);
        const written = await storage.jobs.replace(job);
        if (before && written && !mayFollow(before.state, written.state))
          facts.broken.push(`${job.id} goes back from ${before.state} to ${written.state}`);
        return written;
      },
    },
  };
}
