/** Fetches, stores, tags and archives the files of a job's message. Each step is recorded in the job, so it is safe to repeat. */
import { extname } from 'node:path';
import { UserError } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import type { MediaFile, MediaItem, MediaKind, MediaSource, Message } from '../../core/message.ts';
import { artistOf } from '../../core/music/song.ts';
import { dayOf } from '../../core/util/clock.ts';
import { present } from '../../core/util/present.ts';
import { uniqueFileNames } from '../../media/content/file-names.ts';
import type { ContentKind } from '../../media/content/types.ts';
import { MediaError } from '../../media/errors.ts';
import type { FetchExpectation } from '../../media/fetch/fetcher.ts';
import type { Mark } from '../../media/marks/mark.ts';
import type { Media } from '../../media/media.ts';
import { modelOf } from '../../settings/limits/meter.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';

/** A file of a message: a shown file, a cover for a song's tags, or a smaller version. */
export interface FileToKeep {
  readonly url: string;
  readonly kind: MediaKind;
  /** The result is complete without it. */
  readonly optional: boolean;
}

/** A file that could not be fetched or stored. A retry may succeed. */
export interface FailedFile extends FileToKeep {
  readonly error: MediaError;
}

export interface KeepOptions {
  /**
   * True if a failed file will be retried. A song is not tagged while its cover may still arrive. Absent while the gateway is still
   * working: then nothing is waited for, and no file counts as lost.
   */
  readonly willRetry?: (file: FailedFile) => boolean;
  readonly signal: AbortSignal;
}

const CONTENT = {
  audio: ['audio'],
  image: ['image'],
  video: ['video'],
  file: ['audio', 'image', 'video', 'text', 'archive'],
} as const satisfies Record<MediaKind, readonly ContentKind[]>;

export type Keep = ReturnType<typeof createKeep>;

export function createKeep({ storage, media, log }: Pick<JobDependencies, 'storage' | 'media' | 'log'>) {
  async function keepFile(
    file: FileToKeep,
    job: Job,
    signal: AbortSignal,
  ): Promise<FailedFile | { readonly entry: readonly [string, MediaFile] }> {
    const { url, kind } = file;
    try {
      return { entry: [url, await media.keep(url, { from: 'gateway', kinds: CONTENT[kind], signal })] };
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      log.warn({ job: job.id, err: error }, 'Could not fetch or store a file of the result');
      return { ...file, error };
    }
  }

  /** Writes marks, and the tags of songs. Each file is tagged only once, because one with other tags would be posted again. */
  async function tagFiles(
    job: Job,
    { media: items = [] }: Message,
    waiting: ReadonlySet<string>,
  ): Promise<Record<string, MediaFile>> {
    const files = items.flatMap((item) =>
      [item.source, item.smaller?.source].flatMap((source) =>
        source?.type === 'remote' ? [{ item, url: source.url }] : [],
      ),
    );
    const entries = await Promise.all(
      files.map(async ({ item, url }): Promise<[string, MediaFile][]> => {
        const file = job.stored[url];
        const { coverUrl, ...tags } = tagsOf(item, job);
        if (!file || job.tagged?.[url] !== undefined) return [];
        if (coverUrl !== undefined && waiting.has(coverUrl)) return [];
        const cover = coverUrl === undefined ? undefined : job.stored[coverUrl]?.name;
        return [[url, await media.tag(file, { ...tags, cover, mark: fileMarkOf(job) })]];
      }),
    );
    return Object.fromEntries(entries.flat());
  }

  return {
    /** Fetches and stores the files of a message. Resolves to the failed ones; files that can never be fetched are recorded as lost. */
    async keepMedia(
      run: JobRun,
      message: Message,
      { willRetry, signal }: KeepOptions,
    ): Promise<readonly FailedFile[]> {
      const { job } = run;
      const candidates = filesToKeep(message).filter(
        ({ url }) => job.stored[url] === undefined && !job.lost?.includes(url),
      );
      const results = await Promise.all(candidates.map((file) => keepFile(file, job, signal)));
      const failures = results.filter((result) => 'error' in result);
      const failed = failures.filter(({ error }) => error.retryable);
      const lost = willRetry ? failures.filter(({ error }) => !error.retryable) : [];
      const found = results.flatMap((result) => ('error' in result ? [] : [result.entry]));
      const stored = { ...job.stored, ...Object.fromEntries(found) };
      const waiting = new Set(failed.filter((file) => willRetry?.(file)).map(({ url }) => url));
      const tagged = await tagFiles({ ...job, stored }, message, waiting);
      if (lost.length > 0) run.record({ lost: [...(job.lost ?? []), ...lost.map(({ url }) => url)] });
      if (found.length + Object.keys(tagged).length > 0)
        run.record({ stored, tagged: { ...job.tagged, ...tagged } });
      return failed;
    },

    /** Adds an archive of all files to the message. The archive is created once; if it cannot be stored, the message has none. */
    async withArchive(message: Message, name: string, run: JobRun): Promise<Message> {
      const items = message.media ?? [];
      const entries = items.flatMap(({ name: entryName, source }) =>
        source.type === 'stored' ? [{ name: entryName, file: source.file.name }] : [],
      );
      // The key lists the content, so a late file leads to a new archive.
      const key = entries.map(({ name: entryName, file }) => `${entryName}=${file}`).join('|');
      try {
        let file = run.job.archives?.[key];
        if (!file) {
          file = await media.archive(entries);
          run.record({ archives: { ...run.job.archives, [key]: file } });
        }
        return {
          ...message,
          media: [...items, { kind: 'file', name: `${name}.zip`, source: { type: 'stored', file } }],
        };
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        log.warn({ job: run.job.id, err: error }, 'Could not create an archive; sending the files alone');
        return message;
      }
    },

    /**
     * Drops files from the record that are no longer stored, because of the quota, the retention or a person, so that they are fetched
     * again. Files that arrived as bytes cannot be fetched again and are recorded as lost.
     */
    async forgetMissing(run: JobRun): Promise<void> {
      const { stored, tagged = {}, archives = {}, lost = [], result } = run.job;
      const images = (result?.images ?? []).flatMap((image) => (image.type === 'stored' ? [image.file] : []));
      const files = [stored, tagged, archives].flatMap((byKey) => Object.values(byKey));
      const missing = new Set<string>();
      for (const { name } of [...files, ...images]) if (await isMissing(name, media)) missing.add(name);
      const withoutMissing = (byKey: Record<string, MediaFile>) =>
        Object.fromEntries(Object.entries(byKey).filter(([, { name }]) => !missing.has(name)));
      const lostImages = images.filter(({ name }) => missing.has(name)).map(({ name }) => name);
      run.record({
        stored: withoutMissing(stored),
        tagged: withoutMissing(tagged),
        archives: withoutMissing(archives),
        lost: [...new Set([...lost, ...lostImages])],
      });
    },

    /** Returns a file of a result: the stored one, or fetched again. Throws UserError if it no longer exists, and the signal's reason. */
    async readResultFile(
      job: string,
      source: MediaSource,
      expect: Pick<FetchExpectation, 'kinds' | 'signal'>,
    ): Promise<MediaFile> {
      try {
        const stored =
          source.type === 'stored' ? source.file : (await storage.jobs.read(job))?.stored[source.url];
        if (stored && (await media.stat(stored.name)) !== undefined) return stored;
        if (source.type === 'stored') throw new MediaError('missing', 'The file is no longer available');
        return await media.keep(source.url, { from: 'gateway', ...expect });
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        throw new UserError(
          error.code === 'disk-full' || error.code === 'store'
            ? "I can't read this file right now because my file storage is down. Try again in a minute."
            : 'This file is gone: I no longer have it, and neither does the service. If you have a copy, attach it instead.',
        );
      }
    },
  };
}

/** Stores an image that arrived as bytes, in base64, with the mark of its job. Throws MediaError. */
export function keepImage(data: string, job: Job, media: Pick<Media, 'keepBytes'>): Promise<MediaFile> {
  return media.keepBytes(Buffer.from(data, 'base64'), { kinds: ['image'], mark: fileMarkOf(job) });
}

/** The mark of the job's files. It never changes, so that repeated runs write the same files. */
function fileMarkOf({ id, work, createdAt }: Pick<Job, 'id' | 'work' | 'createdAt'>): Mark {
  return { job: id, ...present({ model: modelOf(work) }), day: dayOf(createdAt) };
}

function tagsOf(
  { kind, name, tags }: MediaItem,
  job: Job,
): NonNullable<MediaItem['tags']> | { readonly coverUrl?: undefined } {
  return kind === 'audio' ? (tags ?? { title: name, artist: artistOf(job) }) : {};
}

/** True if a file is definitely no longer stored. */
async function isMissing(name: string, media: Pick<JobDependencies['media'], 'stat'>): Promise<boolean> {
  try {
    return (await media.stat(name)) === undefined;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return false;
  }
}

function filesToKeep({ media = [] }: Message): FileToKeep[] {
  const candidates = media.flatMap((item): FileToKeep[] => [
    ...remote(item.source, item.kind, item.cover ?? false),
    ...(item.smaller ? remote(item.smaller.source, item.kind, true) : []),
    ...(item.tags?.coverUrl ? [{ url: item.tags.coverUrl, kind: 'image' as const, optional: true }] : []),
  ]);
  const byUrl = new Map(
    candidates.toSorted((a, b) => Number(b.optional) - Number(a.optional)).map((file) => [file.url, file]),
  );
  return [...byUrl.values()];
}

function remote(source: MediaSource, kind: MediaKind, optional: boolean): FileToKeep[] {
  return source.type === 'remote' ? [{ url: source.url, kind, optional }] : [];
}

type MediaFiles = Pick<Job, 'stored' | 'lost' | 'tagged'>;

/** A message with its stored files, and its missing files. */
export interface KeptMessage {
  readonly message: Message;
  /** Items of the result that are not stored. */
  readonly missing: readonly MediaItem[];
}

/** Returns the message with its stored files, under names that are valid on every system. */
export function withStoredMedia(message: Message, job: MediaFiles): KeptMessage {
  const items = (message.media ?? []).map((item) => ({ item, file: storedFile(item.source, job) }));
  const stored = items.flatMap(({ item: { tags: _, smaller, ...item }, file }) =>
    file ? [{ item, file, smaller: smaller && storedFile(smaller.source, job) }] : [],
  );
  const files = stored.flatMap(({ item, file, smaller }) =>
    [file, ...(smaller ? [smaller] : [])].map(({ name }) => ({
      title: item.name,
      extension: extname(name).slice(1),
    })),
  );
  const names = uniqueFileNames(files).values();
  const withName = (item: { name: string }, file: MediaFile) => ({
    name: names.next().value ?? item.name,
    source: { type: 'stored' as const, file },
  });
  const media = stored.map(({ item, file, smaller }) => ({
    ...item,
    ...withName(item, file),
    ...(smaller ? { smaller: withName(item, smaller) } : {}),
  }));
  const missing = items.flatMap(({ item, file }) => (file || item.cover ? [] : [item]));
  return { message: { ...message, media }, missing };
}

function storedFile(source: MediaSource, { stored, lost, tagged }: MediaFiles): MediaFile | undefined {
  if (source.type === 'remote') return tagged?.[source.url] ?? stored[source.url];
  return lost?.includes(source.file.name) ? undefined : source.file;
}
