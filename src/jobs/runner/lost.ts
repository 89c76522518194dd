/** Tells people of work that storage has lost as a whole, as by `FLUSHALL` or a volume that was deleted. */
import { isOpen, type Job } from '../../core/job.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import { LOST_SENTENCE } from '../sentences.ts';

/** Longer than replicas take to find the same loss one after the other. */
const TOLD_ONCE_IN_MS = 24 * 60 * 60_000;

type SeenJob = Pick<Job, 'address' | 'posted' | 'title'>;
type LossDependencies = Pick<JobDependencies, 'storage' | 'platform' | 'newId' | 'log'>;

export interface LossWatch {
  /** What a run left of a job. What this process saw is all that is left of a job that is lost. */
  saw(job: Job): void;
  /** Throws StorageError. */
  check(signal: AbortSignal): Promise<void>;
}

export function createLossWatch({ storage, platform, newId, log }: LossDependencies): LossWatch {
  const seen = new Map<string, SeenJob>();
  /** Lost jobs whose person does not know it yet. */
  const untold = new Map<string, SeenJob>();
  /** Another one means that storage was emptied since. */
  let epoch: string | undefined;

  /** False when the person is to be told later. Throws StorageError, and what no platform foresees. */
  async function tell(id: string, { address, posted, title }: SeenJob): Promise<boolean> {
    const chat = platform(address.platform);
    if (!chat) return true;
    const message = { title, text: LOST_SENTENCE };
    try {
      const options = { key: id, posted, mayHavePosted: true, remember: async () => undefined };
      await chat.show(address, message, options);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (error.code === 'unavailable') {
        log.warn({ job: id, err: error }, 'A person is told later that their work was lost');
        return false;
      }
      // Other replicas may have seen the job too, and a private message has no key.
      if (await storage.leases.take(`lost:${id}`, newId(), TOLD_ONCE_IN_MS))
        await chat.sendPrivately(address, message);
    }
    return true;
  }

  return {
    saw(job) {
      const { id, address, posted, title } = job;
      if (isOpen(job)) seen.set(id, { address, posted, title });
      else seen.delete(id);
    },
    async check(signal) {
      const newest = await storage.secret('epoch', newId);
      const wasEmptied = epoch !== undefined && epoch !== newest;
      const open = new Set(await Array.fromAsync(storage.jobs.open()));
      for (const [id, job] of seen) {
        if (open.has(id)) continue;
        seen.delete(id);
        if (!wasEmptied) continue;
        log.error({ job: id }, 'Storage has lost an open job; its person is told');
        untold.set(id, job);
      }
      // Only now: a look that failed is repeated by the next one.
      epoch = newest;
      for (const [id, job] of untold) {
        if (signal.aborted) return;
        const isDone = await tell(id, job).catch((error: unknown) => {
          log.error({ job: id, err: error }, 'A person could not be told that their work was lost');
          return !(error instanceof StorageError);
        });
        if (isDone) untold.delete(id);
      }
    },
  };
}
