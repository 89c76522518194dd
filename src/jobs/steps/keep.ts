/** Fetches, keeps, tags and packs what a job's message shows. What was done is recorded with the job, so it is safe to repeat. */
import { extname } from 'node:path';
import { UserError } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import type { KeptFile, MediaItem, MediaKind, MediaSource, Message } from '../../core/message.ts';
import { artistOf } from '../../core/music/song.ts';
import { uniqueFileNames } from '../../media/content/file-names.ts';
import type { ContentKind } from '../../media/content/types.ts';
import { MediaError } from '../../media/errors.ts';
import type { FetchExpectation } from '../../media/fetch/fetcher.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';

/** A file that a message shows, or that serves one: a cover to be written into a song, a variant in fewer bytes. */
export interface WantedFile {
  readonly url: string;
  readonly kind: MediaKind;
  /** The result is whole without it. */
  readonly optional: boolean;
}

/** A file that is not here, although trying again may help. */
export interface FailedFile extends WantedFile {
  readonly error: MediaError;
}

export interface KeepOptions {
  /**
   * Whether a failed file will be tried again: a song whose cover may still come is not tagged without it. Left out
   * while the gateway is still at work: then nothing is waited for, and no failure is the last word.
   */
  readonly waitsFor?: (file: FailedFile) => boolean;
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
    wanted: WantedFile,
    job: Job,
    signal: AbortSignal,
  ): Promise<FailedFile | { readonly entry: readonly [string, KeptFile] }> {
    const { url, kind } = wanted;
    try {
      return { entry: [url, await media.keep(url, { from: 'gateway', kinds: CONTENT[kind], signal })] };
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      log.warn({ job: job.id, err: error }, 'Could not fetch or store a file of the result');
      return { ...wanted, error };
    }
  }

  /**
   * The songs of a message with their tags, by URL. Each is tagged once, with what is known when it is first shown: with
   * other tags it would be another file, and be posted a second time.
   */
  async function tagSongs(
    job: Job,
    { media: items = [] }: Message,
    waiting: ReadonlySet<string>,
  ): Promise<Record<string, KeptFile>> {
    const tagged = await Promise.all(
      items.map(async (item): Promise<[string, KeptFile][]> => {
        if (item.kind !== 'audio' || item.source.type !== 'remote') return [];
        const { url } = item.source;
        const file = job.kept[url];
        const { coverUrl, ...tags } = item.tags ?? {
          title: item.name,
          artist: artistOf(job),
        };
        if (!file || job.tagged?.[url] !== undefined) return [];
        if (coverUrl !== undefined && waiting.has(coverUrl)) return [];
        const cover = coverUrl === undefined ? undefined : job.kept[coverUrl]?.name;
        return [[url, await media.tag(file, { ...tags, cover })]];
      }),
    );
    return Object.fromEntries(tagged.flat());
  }

  return {
    /** Resolves to what failed. Never throws MediaError. A file that can never be fetched is recorded as lost. */
    async keepMedia(
      run: JobRun,
      message: Message,
      { waitsFor, signal }: KeepOptions,
    ): Promise<readonly FailedFile[]> {
      const { job } = run;
      const wanted = wantedFiles(message).filter(
        ({ url }) => job.kept[url] === undefined && !job.lost?.includes(url),
      );
      const results = await Promise.all(wanted.map((file) => keepFile(file, job, signal)));
      const failures = results.filter((result) => 'error' in result);
      const failed = failures.filter(({ error }) => error.retryable);
      const lost = waitsFor ? failures.filter(({ error }) => !error.retryable) : [];
      const found = results.flatMap((result) => ('error' in result ? [] : [result.entry]));
      const kept = { ...job.kept, ...Object.fromEntries(found) };
      const waiting = new Set(failed.filter((file) => waitsFor?.(file)).map(({ url }) => url));
      const tagged = await tagSongs({ ...job, kept }, message, waiting);
      if (lost.length > 0) run.record({ lost: [...(job.lost ?? []), ...lost.map(({ url }) => url)] });
      if (found.length + Object.keys(tagged).length > 0)
        run.record({ kept, tagged: { ...job.tagged, ...tagged } });
      return failed;
    },

    /**
     * The message with all its files as one archive besides. `message` has its files kept, under safe names. The archive
     * is made once and remembered; where it cannot be stored, the message is sent without it.
     */
    async withArchive(message: Message, name: string, run: JobRun): Promise<Message> {
      const items = message.media ?? [];
      const entries = items.flatMap(({ name: inside, source }) =>
        source.type === 'kept' ? [{ name: inside, file: source.file.name }] : [],
      );
      // What is in it is part of the key: a file that came late makes another archive.
      const key = entries.map(({ name: inside, file }) => `${inside}=${file}`).join('|');
      try {
        let file = run.job.archives?.[key];
        if (!file) {
          file = await media.archive(entries);
          run.record({ archives: { ...run.job.archives, [key]: file } });
        }
        return {
          ...message,
          media: [...items, { kind: 'file', name: `${name}.zip`, source: { type: 'kept', file } }],
        };
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        log.warn({ job: run.job.id, err: error }, 'Could not create an archive; sending the files alone');
        return message;
      }
    },

    /**
     * Forgets the files of a job that are not there any more (the quota, the retention or a person removed them), so that
     * they are fetched anew; what came as bytes cannot be.
     */
    async forgetMissing(run: JobRun): Promise<void> {
      const { kept, tagged = {}, archives = {}, lost = [], result } = run.job;
      const images = (result?.images ?? []).flatMap((image) => (image.type === 'kept' ? [image.file] : []));
      const files = [kept, tagged, archives].flatMap((some) => Object.values(some));
      const gone = new Set<string>();
      for (const { name } of [...files, ...images]) if (await isGone(name, media)) gone.add(name);
      const left = (some: Record<string, KeptFile>) =>
        Object.fromEntries(Object.entries(some).filter(([, { name }]) => !gone.has(name)));
      const lostImages = images.filter(({ name }) => gone.has(name)).map(({ name }) => name);
      run.record({
        kept: left(kept),
        tagged: left(tagged),
        archives: left(archives),
        lost: [...new Set([...lost, ...lostImages])],
      });
    },

    /**
     * A file of a job's result: as it is kept, or fetched anew from the gateway. Throws UserError when it is
     * nowhere, or the signal's reason.
     */
    async readResultFile(
      job: string,
      source: MediaSource,
      expect: Pick<FetchExpectation, 'kinds' | 'signal'>,
    ): Promise<KeptFile> {
      try {
        const known = source.type === 'kept' ? source.file : (await storage.jobs.read(job))?.kept[source.url];
        if (known && (await media.stat(known.name)) !== undefined) return known;
        if (source.type === 'kept') throw new MediaError('missing', 'The file is no longer available');
        return await media.keep(source.url, { from: 'gateway', ...expect });
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        throw new UserError(
          error.code === 'disk-full' || error.code === 'store'
            ? "I can't read this file right now because my file storage is down. Try again in a minute."
            : 'This file is no longer stored, here or at the gateway. If you saved it, attach it instead.',
        );
      }
    },
  };
}

/** Whether a file is surely not kept any more. */
async function isGone(name: string, media: Pick<JobDependencies['media'], 'stat'>): Promise<boolean> {
  try {
    return (await media.stat(name)) === undefined;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return false;
  }
}

function wantedFiles({ media = [] }: Message): WantedFile[] {
  const wanted = media.flatMap((item): WantedFile[] => [
    ...remote(item.source, item.kind, item.cover ?? false),
    ...(item.smaller ? remote(item.smaller.source, item.kind, true) : []),
    ...(item.tags?.coverUrl ? [{ url: item.tags.coverUrl, kind: 'image' as const, optional: true }] : []),
  ]);
  const byUrl = new Map(
    wanted.toSorted((a, b) => Number(b.optional) - Number(a.optional)).map((file) => [file.url, file]),
  );
  return [...byUrl.values()];
}

function remote(source: MediaSource, kind: MediaKind, optional: boolean): WantedFile[] {
  return source.type === 'remote' ? [{ url: source.url, kind, optional }] : [];
}

type KeptFiles = Pick<Job, 'kept' | 'lost' | 'tagged'>;

/** A message whose files are here, and what is missing in it. */
export interface KeptMessage {
  readonly message: Message;
  /** What belongs to the result and is not kept. */
  readonly missing: readonly MediaItem[];
}

/** The message with every file that was kept, under names that are safe on every system. */
export function withKeptMedia(message: Message, job: KeptFiles): KeptMessage {
  const found = (message.media ?? []).map((item) => ({ item, file: keptOf(item.source, job) }));
  const kept = found.flatMap(({ item: { tags: _, smaller, ...item }, file }) =>
    file ? [{ item, file, smaller: smaller && keptOf(smaller.source, job) }] : [],
  );
  const files = kept.flatMap(({ item, file, smaller }) =>
    [file, ...(smaller ? [smaller] : [])].map(({ name }) => ({
      title: item.name,
      extension: extname(name).slice(1),
    })),
  );
  const names = uniqueFileNames(files).values();
  const named = (item: { name: string }, file: KeptFile) => ({
    name: names.next().value ?? item.name,
    source: { type: 'kept' as const, file },
  });
  const media = kept.map(({ item, file, smaller }) => ({
    ...item,
    ...named(item, file),
    ...(smaller ? { smaller: named(item, smaller) } : {}),
  }));
  const missing = found.flatMap(({ item, file }) => (file || item.cover ? [] : [item]));
  return { message: { ...message, media }, missing };
}

function keptOf(source: MediaSource, { kept, lost, tagged }: KeptFiles): KeptFile | undefined {
  if (source.type === 'remote') return tagged?.[source.url] ?? kept[source.url];
  return lost?.includes(source.file.name) ? undefined : source.file;
}
