/** How a job stands in storage: its record as text, and what queries need to know of it. */
import type { Log } from '../command.ts';
import { isOpen, type Job, jobSchema } from '../jobs/job.ts';
import { StorageError } from './storage.ts';

/** What the queries of {@link JobStore} look at. */
export interface JobFacts {
  readonly open: boolean;
  /** The result holds songs and nothing more is expected of the gateway. */
  readonly hasSongs: boolean;
  /** It could be shown nowhere. */
  readonly unplaced: boolean;
  /** Milliseconds from submission to delivery; undefined unless it was delivered. */
  readonly duration: number | undefined;
}

export function jobFacts(job: Job): JobFacts {
  const settled = !isOpen(job) || job.state === 'ready';
  return {
    open: isOpen(job),
    hasSongs: settled && (job.result?.songs.length ?? 0) > 0,
    unplaced: job.unplaced === true,
    duration:
      job.state === 'delivered' && job.finishedAt !== undefined
        ? Math.max(0, job.finishedAt - (job.submittedAt ?? job.createdAt))
        : undefined,
  };
}

/** Throws StorageError `schema` when the text is not a job that this version can read. */
export function parseJob(id: string, text: string): Job {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (error) {
    throw new StorageError('schema', `The record of job ${id} is not JSON.`, error);
  }
  const parsed = jobSchema.safeParse(record);
  if (!parsed.success) {
    throw new StorageError('schema', `The record of job ${id} cannot be read by this version.`, parsed.error);
  }
  return parsed.data;
}

/** The jobs that can be read; the others are logged, so that one bad record does not hide the rest. */
export function parseJobs(records: Iterable<{ id: string; record: string }>, log: Log): Job[] {
  const jobs: Job[] = [];
  for (const { id, record } of records) {
    try {
      jobs.push(parseJob(id, record));
    } catch (error) {
      log.error({ err: error, job: id }, 'Left out a job whose record cannot be read');
    }
  }
  return jobs;
}
