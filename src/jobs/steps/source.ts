/** What a result was made from: its job, and a link to it. */
import type { Job } from '../../core/job.ts';
import type { JobDependencies } from '../dependencies.ts';

export type Source = ReturnType<typeof createSource>;

/** A link is worth no failure. */
export function createSource({
  storage,
  platform,
  log,
}: Pick<JobDependencies, 'storage' | 'platform' | 'log'>) {
  return {
    /** A link to the message of a job. */
    async linkTo({ id, address, posted }: Job): Promise<string | undefined> {
      try {
        return posted && (await platform(address.platform)?.linkTo?.(address, posted));
      } catch (error) {
        log.warn({ job: id, err: error }, 'Could not link to the parent of a job');
        return undefined;
      }
    },

    /** The job that a job's work was made from. */
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
