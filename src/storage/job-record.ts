/** A stored job: its record as text, and the facts that queries need. */
import { hasWholeResult, isOpen, type Job, jobSchema } from '../core/job.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { Work } from '../core/work.ts';
import { type Alike, StorageError } from './storage.ts';

/** The fields that queries of {@link JobStore} select by. */
export interface JobFacts {
  readonly open: boolean;
  /** The result holds songs that others may see, and nothing more is expected of the gateway. */
  readonly hasSongs: boolean;
  /** The result could not be shown anywhere. */
  readonly undelivered: boolean;
  /** Milliseconds from submission until the gateway finished; undefined unless delivered. */
  readonly duration: number | undefined;
}

export function similarWorkKey(work: Work): Alike {
  return work.route === 'media.video'
    ? { route: work.route, model: work.request.model }
    : { route: work.route };
}

export function jobFacts(job: Job): JobFacts {
  const settled = !isOpen(job) || job.state === 'ready';
  return {
    open: isOpen(job),
    hasSongs: settled && job.hidden !== true && hasWholeResult(job) && (job.result?.songs.length ?? 0) > 0,
    undelivered: job.undelivered === true,
    duration:
      job.state === 'delivered' && job.finishedAt !== undefined
        ? // Measured from the start of the progress, which may precede the request for the song.
          Math.max(0, (job.endedAt ?? job.finishedAt) - (job.startedAt ?? job.createdAt))
        : undefined,
  };
}

/** Throws StorageError `schema` if this version cannot read the job. */
export function parseJob(id: string, text: string): Job {
  try {
    return jobSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new StorageError('schema', `This version cannot read the record of job ${id}.`, error);
  }
}

/** True if the error is about a job record that this version cannot read. */
export function isUnreadableRecord(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'schema';
}

/** Returns the readable jobs and logs the others, so that one bad record does not hide the rest. */
export function parseJobs(records: Iterable<{ id: string; record: string }>, log: Log): Job[] {
  const jobs: Job[] = [];
  for (const { id, record } of records) {
    try {
      jobs.push(parseJob(id, record));
    } catch (error) {
      log.error({ err: error, job: id }, 'Skipped a job with an unreadable record');
    }
  }
  return jobs;
}
