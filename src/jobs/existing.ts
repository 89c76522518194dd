/** Finds existing results of work that the gateway does only once per take, so that a repeated request links to them. */
import { createHash } from 'node:crypto';
import { isOpen, type Job } from '../core/job.ts';
import type { Message } from '../core/message.ts';
import type { TakeWork } from '../core/music/song.ts';
import { MediaError } from '../media/errors.ts';
import type { Storage } from '../storage/storage.ts';
import type { JobDependencies } from './dependencies.ts';
import { PLANS } from './route-plans.ts';
import { withStoredMedia } from './steps/keep.ts';
import type { Source } from './steps/source.ts';

const ALREADY_EXISTS = 'This already existed, so nothing was spent.';

/** The id for a new job, or a message about the existing one. */
export type Existing = { readonly id: string } | { readonly message: Message };

/**
 * Looks for an existing job of the same work. Job ids are derived from the work, so that simultaneous requests create one job. The next
 * id is used if the previous job produced nothing, or if its files are gone. Resolves to undefined for repeatable work. Throws
 * StorageError.
 */
export type FindExisting = (work: WorkOnTake, invocation: string) => Promise<Existing | undefined>;

export function createFindExisting({
  storage,
  media,
  command,
  linkTo,
}: Pick<JobDependencies, 'storage' | 'media' | 'command'> & Pick<Source, 'linkTo'>): FindExisting {
  /** Undefined if the job has no result, or if its files are gone. */
  async function messageOf(job: Job): Promise<Message | undefined> {
    const url = await linkTo(job);
    const actions = url === undefined ? [] : [{ type: 'link' as const, url, label: 'Open message' }];
    if (isOpen(job) && job.end !== 'cancelled') {
      const text =
        'This is already in progress. The result will appear in the channel where it was requested.';
      return { title: job.title, text, actions };
    }
    const done = command(job.command)?.done;
    if (job.state !== 'delivered' || !done) return undefined;
    const rendered = done(job);
    const { message } = withStoredMedia(rendered, job);
    const items = [];
    for (const item of message.media ?? [])
      if (item.source.type === 'stored' && (await isStored(item.source.file.name))) items.push(item);
    const isLost = items.length === 0 && (rendered.media ?? []).length > 0;
    if (isLost && url === undefined) return undefined;
    const text = [ALREADY_EXISTS, message.text].filter(Boolean).join('\n\n');
    return { ...message, text, media: items, actions };
  }

  async function isStored(name: string): Promise<boolean> {
    try {
      return (await media.stat(name)) !== undefined;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      return false;
    }
  }

  return async (request, invocation) => {
    if (!PLANS[request.work.route].reusesResult) return undefined;
    for (let attempt = 0; ; attempt += 1) {
      const id = idOf(request, attempt);
      const job = await storage.jobs.read(id);
      // A repeated event belongs to the job it created.
      if (!job || job.invocation === invocation) return { id };
      const message = await messageOf(job);
      if (message) return { message };
    }
  };
}

interface WorkOnTake {
  readonly work: TakeWork;
  readonly parent: string;
}

function idOf({ work, parent }: WorkOnTake, attempt: number): string {
  const key = JSON.stringify([parent, work.route, work.request, attempt]);
  return createHash('sha256').update(key).digest('hex').slice(0, 25);
}

/** Number of jobs of the same work to look for. */
const MOST_TRIES = 10;

/** The delivered jobs of this work on a take, newest first. Throws StorageError. */
export async function existingResults(work: WorkOnTake, { jobs }: Pick<Storage, 'jobs'>): Promise<Job[]> {
  const found: Job[] = [];
  for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
    const job = await jobs.read(idOf(work, attempt));
    if (!job) break;
    if (job.state === 'delivered') found.unshift(job);
  }
  return found;
}
