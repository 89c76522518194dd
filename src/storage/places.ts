/**
 * The port for bounded concurrency: so many jobs of a kind at once, the others in the order in which they came. A place
 * belongs to a job and not to a process, so a crash gives none away: the job comes back for it.
 */
export interface Places {
  /**
   * Takes a place for the job, or keeps it in the queue. Resolves to 0 when it has one (whatever the limit is by now),
   * else to its place in the queue, from 1; past {@link QUEUE_COUNTED} it is not counted further. Asking again changes
   * nothing but that.
   */
  take(queue: string, job: string, limit: number): Promise<number>;
  /** Gives up what the job has or waits for. Resolves to the jobs for which a place is free now: wake them. */
  leave(queue: string, job: string, limit: number): Promise<string[]>;
  /** The jobs that have a place, and the first of the queue: those that others wait for. */
  occupants(queue: string, limit: number): Promise<string[]>;
}

/** So that telling a place costs the same in a queue of any length. */
export const QUEUE_COUNTED = 1_000;
