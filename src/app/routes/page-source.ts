/** What the pages of songs show: read from jobs, kept files and what moderators decided, each time they are asked for. */
import { extname } from 'node:path';
import type { Address } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import type { KeptFile } from '../../core/message.ts';
import { present } from '../../core/present.ts';
import { hasVoice, lyricsOf, TAKE_WORK, type TakeWork, titleOf } from '../../core/song.ts';
import type {
  AlbumPage,
  AlbumSong,
  Gone,
  LinkedFile,
  PageLink,
  PageSource,
  PageTake,
  SongPage,
} from '../../http/pages/content.ts';
import { existingResults } from '../../jobs/existing.ts';
import { safeFileName } from '../../media/content/file-names.ts';
import type { Media } from '../../media/media.ts';
import { readAlbumId } from '../../settings/albums.ts';
import { pagesInForce } from '../../settings/answers.ts';
import type { DecisionStore } from '../../settings/decisions.ts';
import type { Storage } from '../../storage/storage.ts';

/** How many of the newest songs of a channel are shown in an album, and searched for work that was made from a song. */
const MOST_SONGS = 100;

export interface PageSourceOptions {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly media: Pick<Media, 'stat' | 'path'>;
  readonly decisions: Pick<DecisionStore, 'read'>;
  /** Where people open the page of a song; relative to the root of the listener. */
  readonly pathOf: (song: Pick<Job, 'id'>) => string;
}

export function createPageSource(options: PageSourceOptions): PageSource {
  const { storage, decisions } = options;

  async function fileOf(kept: KeptFile | undefined, title: string): Promise<LinkedFile | undefined> {
    const file = kept ? await options.media.stat(kept.name) : undefined;
    if (file === undefined) return undefined;
    const name = safeFileName(title, extname(file.name).slice(1));
    const path = options.media.path(file.name, { downloadName: name });
    return { path, name, bytes: file.bytes, contentType: file.contentType };
  }

  /** What is kept of an address of the gateway. */
  const keptOf = async ({ kept, tagged }: Job, url: string | undefined, title: string) =>
    url === undefined ? undefined : fileOf(tagged?.[url] ?? kept[url], title);

  async function whyGone(job: Job): Promise<Gone | undefined> {
    if (job.pageWithdrawn) return 'withdrawn';
    const { on } = pagesInForce(await decisions.read(job.address), job.address);
    return on ? undefined : 'off';
  }

  const isSong = (job: Job | undefined): job is Job =>
    job !== undefined && job.end === 'delivered' && (job.result?.songs.length ?? 0) > 0;

  async function takeOf(job: Job, index: number): Promise<PageTake | undefined> {
    const song = job.result?.songs[index];
    const title = `${titleOf(job)}${(job.result?.songs.length ?? 0) > 1 ? ` (take ${index + 1})` : ''}`;
    const audio = await keptOf(job, song?.audioUrl, title);
    if (audio === undefined) return undefined;
    const { taskId } = job;
    const audioId = song?.audioId;
    const made =
      taskId === undefined || audioId === undefined
        ? { stems: [], lines: [] }
        : await madeOf(job, { taskId, audioId }, title);
    return present({ audio, seconds: song?.durationSeconds, ...made });
  }

  /** The first job whose result is still kept. */
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

  async function madeOf(job: Job, ids: { taskId: string; audioId: string }, title: string) {
    const stemsOf = (type: 'separate_vocal' | 'split_stem') =>
      firstOf(TAKE_WORK.stems(ids, type), job.id, async (made) => {
        const stems = await Promise.all(
          (made.result?.stems ?? []).map(async ({ name, url }) => {
            const file = await keptOf(made, url, `${title} - ${name}`);
            return file && { name, file };
          }),
        );
        const kept = stems.filter((stem) => stem !== undefined);
        return kept.length > 1 ? kept : undefined;
      });
    const [all, vocals, wav, video, words] = await Promise.all([
      stemsOf('split_stem'),
      stemsOf('separate_vocal'),
      firstOf(TAKE_WORK.wav(ids), job.id, (made) => keptOf(made, made.result?.wavUrl, title)),
      firstOf(TAKE_WORK.video(ids), job.id, (made) => keptOf(made, made.result?.videoUrl, title)),
      hasVoice(job)
        ? firstOf(TAKE_WORK.words(ids), job.id, async ({ result }) => result?.karaoke)
        : undefined,
    ]);
    const lrc = await fileOf(words?.file, title);
    return { ...present({ wav, video, lrc }), stems: all ?? vocals ?? [], lines: words?.lines ?? [] };
  }

  async function linkTo(job: Job): Promise<PageLink> {
    const isGone = await whyGone(job);
    return { title: titleOf(job), ...(isGone === undefined ? { path: options.pathOf(job) } : {}) };
  }

  /** Songs of the same channel that were made from this one and have pages. */
  async function madeFrom({ id, address }: Job): Promise<PageLink[]> {
    const songs = await storage.jobs.recentSongs(address, MOST_SONGS);
    const links = await Promise.all(songs.filter(({ parent }) => parent === id).map(linkTo));
    return links.filter(({ path }) => path !== undefined);
  }

  async function sourceOf({ parent, madeFrom: title }: Job): Promise<PageLink | undefined> {
    if (title === undefined) return undefined;
    const job = parent === undefined ? undefined : await storage.jobs.read(parent);
    return isSong(job) ? { ...(await linkTo(job)), title } : { title };
  }

  async function songPage(job: Job): Promise<SongPage | Gone> {
    const songs = job.result?.songs ?? [];
    const title = titleOf(job);
    const found = await Promise.all(songs.map((_, index) => takeOf(job, index)));
    const takes = found.flatMap((take, index) => (take ? [{ ...take, number: index + 1 }] : []));
    if (takes.length === 0) return 'files';
    const { work } = job;
    const requested = 'request' in work && 'style' in work.request ? work.request.style : undefined;
    return present({
      title,
      person: job.person.displayName,
      style: requested ?? songs.find(({ style }) => style !== undefined)?.style,
      lyrics: lyricsOf(job),
      cover: await coverOf(job),
      madeAt: job.createdAt,
      takes,
      madeFrom: await sourceOf(job),
      made: await madeFrom(job),
    });
  }

  async function coverOf(job: Job): Promise<LinkedFile | undefined> {
    for (const { imageUrl } of job.result?.songs ?? []) {
      const cover = await keptOf(job, imageUrl, `${titleOf(job)} - cover`);
      if (cover) return cover;
    }
    return undefined;
  }

  async function albumSong(job: Job): Promise<AlbumSong | undefined> {
    if ((await whyGone(job)) !== undefined) return undefined;
    const [first] = job.result?.songs ?? [];
    if ((await keptOf(job, first?.audioUrl, '')) === undefined) return undefined;
    return present({
      title: titleOf(job),
      path: options.pathOf(job),
      person: job.person.displayName,
      cover: await coverOf(job),
      seconds: first?.durationSeconds,
    });
  }

  return {
    async song(id) {
      const job = await storage.jobs.read(id);
      if (!isSong(job)) return 'erased';
      return (await whyGone(job)) ?? songPage(job);
    },

    async album(id): Promise<AlbumPage | Gone> {
      const album = readAlbumId(id);
      if (album === undefined) return 'erased';
      // Without a person: settings belong to the channel.
      const address: Address = { ...album.address, person: '' };
      const { channel } = await decisions.read(address);
      if (channel.album !== album.key) return 'withdrawn';
      const jobs = (await storage.jobs.recentSongs(address, MOST_SONGS)).filter(isSong);
      const songs = (await Promise.all(jobs.map(albumSong))).filter((song) => song !== undefined);
      const name = jobs.find(({ address: { channelName, parent } }) => channelName && !parent)?.address
        .channelName;
      return present({ channel: name, songs });
    },
  };
}
