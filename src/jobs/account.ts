/** What a job's end means for what was reserved when it was accepted. Safe to repeat. */
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';

/** Whether the work counts as used: a result does, and so does work that was cancelled after the gateway had it. */
export function isCharged({ end, deadlineAt }: Pick<Job, 'end' | 'deadlineAt'>): boolean {
  // Only work that the gateway has, or may have, is waited for.
  return end === 'delivered' || (end === 'cancelled' && deadlineAt !== undefined);
}

/** Settles the reservation of a job that has its end, or gives it back. A result that comes late is settled then. */
export async function account(job: Job, { meter }: Pick<JobDependencies, 'meter'>): Promise<void> {
  const charged = isCharged(job);
  if (job.charged === charged) return;
  await (charged ? meter.settle(job) : meter.giveBack(job));
}
