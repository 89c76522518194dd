/** Tells people of work that storage has lost as a whole, as by `FLUSHALL` or a volume that was deleted. */
import { isOpen, type Job } from '../../core/job.ts';
import type { JobDependencies } from '../dependencies.ts';
import { LOST_SENTENCE } from '../sentences.ts';

type LossDependencies = Pick<JobDependencies, 'storage' | 'platform' | 'newId' | 'log'>;

export interface LossWatch {
  /** What a run left of a job. What this process saw is all that is left of a job that is lost. */
  saw(job: Job): void;
  /** Throws StorageError. */
  check(signal: AbortSignal): Promise<void>;
}

export function createLossWatch({ storage, platform, newId, log }: LossDependencies): LossWatch {
  const seen = new Map<string, Pick<Job, 'address' | 'posted' | 'title'>>();
  /** Another one means that storage was emptied since. */
  let epoch: string | undefined;

  async function tell(id: string, { address, posted, title }: Pick<Job, 'address' | 'posted' | 'title'>) {
    const chat = platform(address.platform);
    if (!chat) return;
    const options = { key: id, posted, mayHavePosted: true, remember: async () => undefined };
    await chat.show(address, { title, text: LOST_SENTENCE }, options);
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
        if (signal.aborted) return;
        if (open.has(id)) continue;
        seen.delete(id);
        if (!wasEmptied) continue;
        log.error({ job: id }, 'Storage has lost an open job; its person is told');
        await tell(id, job).catch((error: unknown) => {
          log.error({ job: id, err: error }, 'A person could not be told that their work was lost');
        });
      }
      // Only now: a look that failed, or was cut short, is repeated by the next one.
      epoch = newest;
    },
  };
}
