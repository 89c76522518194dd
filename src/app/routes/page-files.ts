/** Files for song pages: the song's own, and those created from it. */
import { extname } from 'node:path';
import type { Job } from '../../core/job.ts';
import type { MediaFile } from '../../core/message.ts';
import { hasVoice, inMixerOrder, TAKE_WORK, type TakeWork, titleOf } from '../../core/music/song.ts';
import { present } from '../../core/util/present.ts';
import type { LinkedFile, PageTake } from '../../http/pages/content.ts';
import { existingResults } from '../../jobs/existing.ts';
import { safeFileName } from '../../media/content/file-names.ts';
import type { Media } from '../../media/media.ts';
import type { Storage } from '../../storage/storage.ts';

export interface PageFilesOptions {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly media: Pick<Media, 'stat' | 'path'>;
}

interface FileUse {
  readonly title: string;
  /** The song whose page has the file. */
  readonly page: string;
}

export function createPageFiles({ storage, media }: PageFilesOptions) {
  async function fileOf(
    stored: MediaFile | undefined,
    { title, page }: FileUse,
  ): Promise<LinkedFile | undefined> {
    const file = stored ? await media.stat(stored.name) : undefined;
    if (file === undefined) return undefined;
    const name = safeFileName(title, extname(file.name).slice(1));
    const path = media.path(file.name, { downloadName: name, page });
    return { path, name, bytes: file.bytes, contentType: file.contentType };
  }

  /** Returns the stored file for a gateway URL. */
  const storedOf = async ({ stored, tagged }: Job, url: string | undefined, use: FileUse) =>
    url === undefined ? undefined : fileOf(tagged?.[url] ?? stored[url], use);

  async function takeOf(job: Job, index: number): Promise<PageTake | undefined> {
    const song = job.result?.songs[index];
    const title = `${titleOf(job)}${(job.result?.songs.length ?? 0) > 1 ? ` (take ${index + 1})` : ''}`;
    const use = { title, page: job.id };
    const audio = await storedOf(job, song?.audioUrl, use);
    if (audio === undefined) return undefined;
    const { taskId } = job;
    const audioId = song?.audioId;
    const derived =
      taskId === undefined || audioId === undefined
        ? { stems: [], lines: [] }
        : await derivedOf(job, { taskId, audioId }, use);
    return present({ audio, seconds: song?.durationSeconds, ...derived });
  }

  /** Returns the first result that is still stored. */
  async function firstOf<Value>(
    work: TakeWork,
    parent: string,
    find: (job: Job) => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    for (const job of await existingResults({ work, parent }, storage)) {
      const found = await find(job);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function derivedOf(job: Job, ids: { taskId: string; audioId: string }, use: FileUse) {
    const stemsOf = (type: 'separate_vocal' | 'split_stem') =>
      firstOf(TAKE_WORK.stems(ids, type), job.id, async (derivedJob) => {
        const stems = await Promise.all(
          inMixerOrder(derivedJob.result?.stems ?? []).map(async ({ name, url }) => {
            const file = await storedOf(derivedJob, url, { ...use, title: `${use.title} - ${name}` });
            return file && { name, file };
          }),
        );
        const available = stems.filter((stem) => stem !== undefined);
        return available.length > 1 ? available : undefined;
      });
    const [all, vocals, wav, video, words] = await Promise.all([
      stemsOf('split_stem'),
      stemsOf('separate_vocal'),
      firstOf(TAKE_WORK.wav(ids), job.id, (derivedJob) =>
        storedOf(derivedJob, derivedJob.result?.wavUrl, use),
      ),
      firstOf(TAKE_WORK.video(ids), job.id, (derivedJob) =>
        storedOf(derivedJob, derivedJob.result?.videoUrl, use),
      ),
      hasVoice(job)
        ? firstOf(TAKE_WORK.words(ids), job.id, async ({ result }) => result?.karaoke)
        : undefined,
    ]);
    const lrc = await fileOf(words?.file, use);
    return { ...present({ wav, video, lrc }), stems: all ?? vocals ?? [], lines: words?.lines ?? [] };
  }

  async function coverOf(job: Job, title = `${titleOf(job)} - cover`): Promise<LinkedFile | undefined> {
    for (const { imageUrl } of job.result?.songs ?? []) {
      const cover = await storedOf(job, imageUrl, { title, page: job.id });
      if (cover) return cover;
    }
    return undefined;
  }

  return { storedOf, takeOf, coverOf };
}
