/** Puts a job's message into its place: progress while it runs, then the result. Safe to repeat. */
import { createHash } from 'node:crypto';
import { actionId, type Message } from '../message.ts';
import { PlatformError, type ShowOptions } from '../platforms/platform.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, viewOf } from './record.ts';
import { ROUTES } from './routes.ts';

type ShowDependencies = Pick<JobDependencies, 'storage' | 'platform'>;

/** What stands while the job runs. */
export function progressMessage(
  job: Job,
  stage: string,
  { command }: Pick<JobDependencies, 'command'>,
): Message {
  // An answer has a say in its title before its first word.
  const isShown = job.result !== undefined || job.work.route === 'answer';
  const early = isShown ? command(job.command)?.early?.(viewOf(job)) : undefined;
  return {
    title: job.title,
    ...early,
    progress: {
      stage,
      startedAt: job.startedAt ?? job.createdAt,
      ...(job.queuePlace === undefined ? {} : { queuePlace: job.queuePlace }),
      ...(job.estimateMs === undefined || job.queuePlace !== undefined ? {} : { estimateMs: job.estimateMs }),
    },
    actions: [
      {
        type: 'action',
        id: actionId({ command: job.command, action: 'cancel', job: job.id, index: 0 }),
        label: ROUTES[job.work.route].comesBack === 'stream' ? 'Stop' : 'Cancel',
      },
    ],
  };
}

export function showOptions(job: Job, { storage }: Pick<JobDependencies, 'storage'>): ShowOptions {
  return {
    key: job.id,
    posted: job.posted,
    remember: async (posted) => {
      await mutate(storage, job.id, (current) => ({ ...current, posted }));
    },
  };
}

/** Tells equal messages from others without keeping them. */
export function digestOf(message: Message): string {
  return createHash('sha256').update(JSON.stringify(message)).digest('base64url');
}

/** Shows `message` unless the very same stands already. Throws PlatformError. */
export async function show(job: Job, message: Message, d: ShowDependencies): Promise<void> {
  const digest = digestOf(message);
  if (digest === job.shown) return;
  const platform = d.platform(job.address.platform);
  if (!platform)
    throw new PlatformError('unavailable', `The platform ${job.address.platform} is not switched on`);
  const posted = await platform.show(job.address, message, showOptions(job, d));
  await mutate(d.storage, job.id, (current) => ({ ...current, posted, shown: digest }));
}
