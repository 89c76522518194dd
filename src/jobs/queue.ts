/** Bounded concurrency to the gateway: so many jobs of a family at once, the others in line, and told of their place. */
import type { Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { isUnreadableRecord, mutate } from './record.ts';

type QueueDependencies = Pick<JobDependencies, 'storage' | 'concurrency' | 'familyOf' | 'now' | 'random'>;

/** The first in line look this often, those behind them more rarely, so that a long line costs little. */
const LOOK_AGAIN_MS = 10_000;
const LONGEST_LOOK_MS = 30 * 60_000;
/** Songs end upstream after 10 minutes at the latest, one way or the other; videos take 1 to 5. */
const PLACE_MS = 10 * 60_000;
/** Where nobody knows whether the gateway took the work: as long as most of it takes. */
const UNCERTAIN_PLACE_MS = 3 * 60_000;

/**
 * The job with its place in line, or without one when it may begin. What it has it keeps until {@link leaveQueue}, through
 * crashes too.
 */
export async function queued(job: Job, d: QueueDependencies): Promise<Job> {
  const { queue, limit } = queueOf(job, d);
  const place = await d.storage.places.take(queue, job.id, limit);
  if (place === (job.queuePlace ?? 0)) return job;
  const changed = await mutate(d.storage, job.id, (current) => {
    const { queuePlace: _, ...rest } = current;
    return place === 0 ? { ...rest, startedAt: d.now() } : { ...current, queuePlace: place };
  });
  return changed ?? job;
}

/** When a job that waits in line looks again by itself; a free place wakes it before. */
export function lookAgainInQueue(job: Job, d: QueueDependencies): number {
  const rounds = Math.max(1, (job.queuePlace ?? 1) / queueOf(job, d).limit);
  return d.now() + Math.min(LOOK_AGAIN_MS * rounds, LONGEST_LOOK_MS) * (0.9 + d.random() * 0.2);
}

/**
 * Until when a job that waits for the gateway keeps others from it, in milliseconds since the epoch. After that it is
 * still waited for, but hardly any work is done for it.
 */
export function keepsPlaceUntil({ submittedAt, createdAt, taskId }: Job): number {
  return (submittedAt ?? createdAt) + (taskId === undefined ? UNCERTAIN_PLACE_MS : PLACE_MS);
}

/** Gives the place up and wakes those who are next. Safe to repeat. */
export async function leaveQueue(job: Pick<Job, 'id' | 'work'>, d: QueueDependencies): Promise<void> {
  const { queue, limit } = queueOf(job, d);
  await leave(queue, job.id, limit, d);
}

/** Frees what belongs to jobs that are over, were erased or cannot be read, so that nobody waits for them. */
export async function reclaimPlaces(d: QueueDependencies): Promise<void> {
  for (const [queue, limit] of Object.entries(d.concurrency)) {
    for (const id of await d.storage.places.occupants(queue, limit)) {
      if (!(await needsPlace(id, d))) await leave(queue, id, limit, d);
    }
  }
}

async function needsPlace(id: string, { storage }: QueueDependencies): Promise<boolean> {
  try {
    const state = (await storage.jobs.read(id))?.state;
    return state === 'accepted' || state === 'submitting' || state === 'waiting';
  } catch (error) {
    if (!isUnreadableRecord(error)) throw error;
    return false;
  }
}

async function leave(queue: string, job: string, limit: number, d: QueueDependencies): Promise<void> {
  for (const next of await d.storage.places.leave(queue, job, limit)) {
    await d.storage.wakeUps.wake(next, d.now());
  }
}

function queueOf({ work }: { work: Work }, { concurrency, familyOf }: QueueDependencies) {
  const queue = familyOf(work);
  return { queue, limit: concurrency[queue] };
}
