/** Puts a job's message into its place: progress while it runs, then the result. Safe to repeat. */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { MediaError } from '../media/errors.ts';
import { uniqueFileNames } from '../media/file-names.ts';
import type { MediaKind as ContentKind } from '../media/kinds.ts';
import { actionId, type MediaItem, type MediaKind, type Message } from '../message.ts';
import { PlatformError, type ShowOptions } from '../platforms/platform.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, viewOf } from './record.ts';
import { ROUTES } from './routes.ts';

type ShowDependencies = Pick<JobDependencies, 'storage' | 'media' | 'platform' | 'command' | 'now' | 'log'>;

/** What stands while the job runs. */
export function progressMessage(
  job: Job,
  stage: string,
  { command }: Pick<JobDependencies, 'command'>,
): Message {
  const early = job.result ? command(job.command)?.early?.(viewOf(job)) : undefined;
  return {
    title: job.title,
    ...early,
    progress: {
      stage,
      startedAt: job.createdAt,
      ...(job.estimateMs === undefined ? {} : { estimateMs: job.estimateMs }),
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

const CONTENT = {
  audio: ['audio'],
  image: ['image'],
  video: ['video'],
  file: ['audio', 'image', 'video', 'text', 'archive'],
} as const satisfies Record<MediaKind, readonly ContentKind[]>;

/**
 * Fetches and keeps what `message` shows from the gateway, and records it with the job. What cannot be had is recorded
 * as null. Throws MediaError when trying again may help and `patient` is set.
 */
export async function keepMedia(
  job: Job,
  message: Message,
  { patient, signal }: { patient: boolean; signal: AbortSignal },
  d: ShowDependencies,
): Promise<Job> {
  const wanted = remoteItems(message).filter(({ url }) => job.kept[url] === undefined);
  if (wanted.length === 0) return job;
  const kept = new Map<string, Job['kept'][string]>();
  const failures: MediaError[] = [];
  await Promise.all(
    wanted.map(async ({ url, kind }) => {
      try {
        const { name, bytes, contentType } = await d.media.keep(url, { kinds: CONTENT[kind], signal });
        kept.set(url, { name, bytes, contentType });
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        d.log.warn({ job: job.id, err: error }, 'A file of the result could not be fetched');
        if (error.retryable && patient) failures.push(error);
        else kept.set(url, null);
      }
    }),
  );
  const stored = await mutate(d.storage, job.id, (current) =>
    kept.size === 0 ? current : { ...current, kept: { ...current.kept, ...Object.fromEntries(kept) } },
  );
  const [failure] = failures;
  if (failure) throw failure;
  return stored ?? job;
}

function remoteItems(message: Message): { url: string; kind: MediaKind }[] {
  return (message.media ?? []).flatMap(({ source, kind }) =>
    source.type === 'remote' ? [{ url: source.url, kind }] : [],
  );
}

/** The message with every file that was kept, under names that are safe on every system, and a sentence for the others. */
export function withKeptMedia(message: Message, kept: Job['kept']): Message {
  const media: (MediaItem & { source: { type: 'kept' } })[] = [];
  const missing: string[] = [];
  for (const item of message.media ?? []) {
    const file = item.source.type === 'kept' ? item.source.file : kept[item.source.url];
    if (file) media.push({ ...item, source: { type: 'kept', file } });
    else if (!item.cover) missing.push(item.name);
  }
  const names = uniqueFileNames(
    media.map(({ name, source }) => ({ title: name, extension: extname(source.file.name).slice(1) })),
  );
  const named = media.map((item, index) => ({ ...item, name: names[index] ?? item.name }));
  if (missing.length === 0) return { ...message, media: named };
  const sentence = `The gateway made ${missing.join(', ')}, but it could not be fetched. Press Again for a new one.`;
  return { ...message, media: named, footer: message.footer ? `${message.footer} · ${sentence}` : sentence };
}
