/** Reads the parent of a job, and links to messages of jobs. */
import type { Job } from '../../core/job.ts';
import type { JobDependencies } from '../dependencies.ts';

export type Source = ReturnType<typeof createSource>;

/** Never throws: a missing link must not fail the delivery. */
export function createSource({
  storage,
  platform,
  log,
}: Pick<JobDependencies, 'storage' | 'platform' | 'log'>) {
  return {
    /** A link to a job's message, if the platform supports it. */
    async linkTo({ id, address, posted }: Job): Promise<string | undefined> {
      // Only the requester can open their direct messages.
      if (address.toPerson) return undefined;
      try {
        return posted && (await platform(address.platform)?.linkTo?.(address, posted));
      } catch (error) {
        log.warn({ job: id, err: error }, 'Could not link to the parent of a job');
        return undefined;
      }
    },

    /** The job whose result this job was made from. */
    async readParent({ parent }: Job): Promise<Job | undefined> {
      try {
        return parent === undefined ? undefined : await storage.jobs.read(parent);
      } catch (error) {
        log.warn({ job: parent, err: error }, 'Could not read the parent of a job');
        return undefined;
      }
    },
  };
}
