/** Reading and writing job records, and what commands see of them. */
import { type Storage, StorageError } from '../storage/storage.ts';
import type { JobView } from '../work.ts';
import type { Job } from './job.ts';

/**
 * Reads the job, lets `change` decide on the newest version, and writes it back; again if somebody else was first.
 * `change` returns the very job it was given to write nothing. Resolves to what is stored now.
 */
export async function mutate(
  storage: Storage,
  id: string,
  change: (job: Job) => Job,
): Promise<Job | undefined> {
  for (;;) {
    const job = await storage.jobs.read(id);
    if (!job) return undefined;
    const changed = change(job);
    if (changed === job) return job;
    const written = await storage.jobs.replace(changed);
    if (written) return written;
  }
}

/** Whether something failed because this version cannot read the record of a job. */
export function isUnreadableRecord(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'schema';
}

/** Moves an open job to `ready` with its end. Nothing happens if it moved on before. */
export async function endAs(
  job: Job,
  how: Pick<Job, 'end'> & Partial<Pick<Job, 'failure' | 'result'>>,
  { storage }: { readonly storage: Storage },
): Promise<'now'> {
  await mutate(storage, job.id, (current) =>
    current.state === job.state ? { ...current, ...how, state: 'ready', attempts: 0 } : current,
  );
  return 'now';
}

export function viewOf(job: Job): JobView {
  return {
    id: job.id,
    state: job.state,
    command: job.command,
    title: job.title,
    address: job.address,
    person: job.person,
    work: job.work,
    createdAt: job.createdAt,
    ...(job.parent === undefined ? {} : { parent: job.parent }),
    ...(job.madeFrom === undefined ? {} : { madeFrom: job.madeFrom }),
    ...(job.taskId === undefined ? {} : { taskId: job.taskId }),
    ...(job.result === undefined ? {} : { result: job.result }),
    ...(job.queuePlace === undefined ? {} : { queuePlace: job.queuePlace }),
    ...(job.unplaced === undefined ? {} : { unplaced: job.unplaced }),
    ...(job.finishedAt === undefined ? {} : { finishedAt: job.finishedAt }),
  };
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Milliseconds to wait before try number `attempts` + 1: doubling from one second to ten minutes, with jitter. */
export function pauseBefore(attempts: number, random: () => number, retryAfterMs = 0): number {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempts, LONGEST_PAUSE_MS);
  return Math.max(retryAfterMs, pause * (0.75 + random() / 2));
}
