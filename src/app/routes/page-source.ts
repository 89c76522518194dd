/** Builds song pages from jobs, stored files and settings on each request. */
import { winnersOf } from '../../core/contest.ts';
import type { Address } from '../../core/invocation.ts';
import { isOpen, type Job } from '../../core/job.ts';
import { lyricsOf, songModelOf, titleOf } from '../../core/music/song.ts';
import { present } from '../../core/util/present.ts';
import { counted, ellipsis } from '../../core/util/words.ts';
import type {
  AlbumPage,
  AlbumSong,
  PageLink,
  PageProgress,
  PageSource,
  PageUnavailable,
  SongPage,
} from '../../http/pages/content.ts';
import { PLANS, QUEUED_STAGE } from '../../jobs/route-plans.ts';
import { type ContestAlbum, readAlbumId, readContestAlbumId } from '../../settings/albums.ts';
import { pagesInForce } from '../../settings/answers.ts';
import type { ContestStore } from '../../settings/contests/contests.ts';
import type { DecisionStore } from '../../settings/decisions.ts';
import { createPageFiles, type PageFilesOptions } from './page-files.ts';

/** The number of recent songs that an album shows, and that are searched for songs based on another. */
const MOST_SONGS = 100;
const LONGEST_EARLY_TITLE = 80;

export interface PageSourceOptions extends PageFilesOptions {
  readonly decisions: Pick<DecisionStore, 'read'>;
  readonly contests: Pick<ContestStore, 'read'>;
  /** Returns the path of a song's page, relative to the root of the listener. */
  readonly pathOf: (song: Pick<Job, 'id'>) => string;
}

export function createPageSource(options: PageSourceOptions): PageSource {
  const { storage, decisions, contests } = options;
  const { storedOf, takeOf, coverOf } = createPageFiles(options);

  async function unavailableReason(job: Job): Promise<PageUnavailable | undefined> {
    if (job.pageWithdrawn) return 'withdrawn';
    const { on } = pagesInForce(await decisions.read(job.address), job.address);
    return on ? undefined : 'off';
  }

  const isFinished = ({ end, result }: Job): boolean =>
    end === 'delivered' && (result?.songs.length ?? 0) > 0;
  const isSong = (job: Job | undefined): job is Job => job !== undefined && isFinished(job);

  /** Undefined once the song is finished. */
  function progressOf(job: Job): PageProgress | undefined {
    if (isFinished(job)) return undefined;
    const isQueued = job.queuePosition !== undefined;
    return present({
      stage: isQueued ? QUEUED_STAGE : PLANS[job.work.route].stage,
      startedAt: job.startedAt ?? job.createdAt,
      estimateMs: isQueued ? undefined : job.estimateMs,
    });
  }

  /** The prompt, until the song has a title. */
  function earlyTitle(job: Job): string {
    const { result, options: { title, prompt } = {} } = job;
    const hasTitle = title !== undefined || result?.songs.some((song) => song.title !== undefined);
    return prompt === undefined || hasTitle ? titleOf(job) : ellipsis(prompt, LONGEST_EARLY_TITLE);
  }

  async function linkTo(job: Job): Promise<PageLink> {
    const reason = await unavailableReason(job);
    return { title: titleOf(job), ...(reason === undefined ? { path: options.pathOf(job) } : {}) };
  }

  /** Returns songs in the same channel that are based on this one and have pages. */
  async function derivedFrom({ id, address }: Job): Promise<PageLink[]> {
    const songs = await storage.jobs.recentSongs(address, MOST_SONGS);
    const links = await Promise.all(songs.filter(({ parent }) => parent === id).map(linkTo));
    return links.filter(({ path }) => path !== undefined);
  }

  async function sourceOf({ parent, basedOn: title }: Job): Promise<PageLink | undefined> {
    if (title === undefined) return undefined;
    const job = parent === undefined ? undefined : await storage.jobs.read(parent);
    return isSong(job) ? { ...(await linkTo(job)), title } : { title };
  }

  async function songPage(job: Job): Promise<SongPage | PageUnavailable> {
    const songs = job.result?.songs ?? [];
    const progress = progressOf(job);
    const title = progress ? earlyTitle(job) : titleOf(job);
    const results = await Promise.all(songs.map((_, index) => takeOf(job, index)));
    const takes = results.flatMap((take, index) => (take ? [{ ...take, number: index + 1 }] : []));
    if (takes.length === 0 && !progress) return 'files';
    const { work } = job;
    const requested = 'request' in work && 'style' in work.request ? work.request.style : undefined;
    return present({
      progress,
      title,
      person: job.person.displayName,
      style: requested ?? songs.find(({ style }) => style !== undefined)?.style,
      award: await awardOf(job),
      model: songModelOf(work),
      lyrics: lyricsOf(job),
      cover: await coverOf(job),
      createdAt: job.createdAt,
      takes,
      basedOn: await sourceOf(job),
      derived: await derivedFrom(job),
    });
  }

  /** The contest that a song won. */
  async function awardOf({ id, contest }: Job): Promise<string | undefined> {
    const found = contest && (await contestResult(contest));
    const isWinner = found && winnersOf(found.standings ?? []).some(({ job }) => job === id);
    return isWinner ? `Winner of the song contest “${found.theme}”` : undefined;
  }

  async function contestResult({ id, key }: NonNullable<Job['contest']>) {
    const { current, past } = await contests.read(key);
    // The link is posted a moment before the contest is past.
    return current?.id === id ? { ...current, ...current.result } : past.find((contest) => contest.id === id);
  }

  async function contestAlbum({ contest: id, key }: ContestAlbum): Promise<AlbumPage | PageUnavailable> {
    const found = await contestResult({ id, key });
    const { standings } = found ?? {};
    if (!found || !standings?.length) return 'erased';
    const songs = await Promise.all(
      standings.map(async ({ job: song, take, votes }) => {
        const job = await storage.jobs.read(song);
        const shown = isSong(job) ? await albumSong(job, take) : undefined;
        return shown && { ...shown, note: counted(votes, 'vote') };
      }),
    );
    return { title: `Song contest: ${found.theme}`, songs: songs.filter((song) => song !== undefined) };
  }

  async function albumSong(job: Job, take = 0): Promise<AlbumSong | undefined> {
    if ((await unavailableReason(job)) !== undefined) return undefined;
    const first = job.result?.songs[take];
    // Short names, since an album has up to 200 links to files.
    const audio = await storedOf(job, first?.audioUrl, { title: 'song', page: job.id });
    if (audio === undefined) return undefined;
    return present({
      title: titleOf(job),
      path: options.pathOf(job),
      person: job.person.displayName,
      audio,
      createdAt: job.createdAt,
      cover: await coverOf(job, 'cover'),
      seconds: first?.durationSeconds,
    });
  }

  /** Returns the song, or the reason why its page cannot be opened. */
  async function openSong(id: string): Promise<Job | PageUnavailable> {
    const job = await storage.jobs.read(id);
    if (job === undefined || (!isFinished(job) && songModelOf(job.work) === undefined)) return 'erased';
    const reason = await unavailableReason(job);
    if (reason !== undefined || isFinished(job) || isOpen(job)) return reason ?? job;
    return 'failed';
  }

  return {
    async song(id) {
      const job = await openSong(id);
      return typeof job === 'string' ? job : songPage(job);
    },

    isOpen: async (id) => typeof (await openSong(id)) !== 'string',

    async album(id): Promise<AlbumPage | PageUnavailable> {
      const ofContest = readContestAlbumId(id);
      if (ofContest) return contestAlbum(ofContest);
      const album = readAlbumId(id);
      if (album === undefined) return 'erased';
      // No person, because the settings are the channel's.
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
