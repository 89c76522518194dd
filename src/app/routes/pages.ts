/** Where pages are, and the links to them that chats show. */
import type { PageKind } from '../../core/http.ts';
import type { Address } from '../../core/invocation.ts';
import type { Job, JobView } from '../../core/job.ts';
import { TAKE_WORK } from '../../core/song.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { allMade } from '../../jobs/made.ts';
import type { Platform } from '../../platforms/platform.ts';
import { type DecisionStore, pagesInForce } from '../../settings/decisions.ts';
import type { Storage } from '../../storage/storage.ts';

/** Of one person, when all that they made is erased: each is two requests to a chat. */
const MOST_SONGS = 200;

const SPLITS = ['separate_vocal', 'split_stem'] as const;

type Shown = Pick<Job, 'id' | 'address' | 'posted'>;

export interface PagesOptions {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly decisions: Pick<DecisionStore, 'read'>;
  readonly platform: (name: string) => Platform | undefined;
  /** Where people reach the listener, as the operator set it. */
  readonly publicUrl: string | undefined;
  /** The signed address of a page. */
  readonly signedUrl: (kind: PageKind, id: string) => string;
  readonly log: Log;
}

/** Whose people are at this machine. */
const HERE_ONLY: ReadonlySet<string> = new Set(['terminal', 'web']);
const LOOPBACK = /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/i;

export type Pages = ReturnType<typeof createPages>;

export function createPages({ storage, decisions, platform, publicUrl, signedUrl, log }: PagesOptions) {
  const isPublic = publicUrl !== undefined && !LOOPBACK.test(new URL(publicUrl).hostname);
  /** Undefined where people of the platform could not open it. */
  const urlAt = (at: Pick<Address, 'platform'>, kind: PageKind, id: string): string | undefined =>
    isPublic || HERE_ONLY.has(at.platform) ? signedUrl(kind, id) : undefined;

  /** Such a link opens nothing any more, so a failure is logged alone. */
  async function takeFrom({ id, address, posted }: Shown, page: string): Promise<void> {
    if (posted === undefined) return;
    try {
      await platform(address.platform)?.removeLinks?.(address, posted, page);
    } catch (error) {
      log.warn({ job: id, err: error }, 'A link to a page that is gone is still shown');
    }
  }

  return {
    urlAt,

    /** Where people open the page of a song; undefined where they could not, or moderators switched pages off. */
    async urlOf({ id, address }: Pick<JobView, 'id' | 'address'>): Promise<string | undefined> {
      const { on } = pagesInForce(await decisions.read(address), address);
      return on ? urlAt(address, 'songs', id) : undefined;
    },

    /** Takes the links to the page of a song out of what chats show: under the song, and under its stems. */
    async hide(id: string): Promise<void> {
      const song = await storage.jobs.read(id);
      if (song === undefined) return;
      const page = signedUrl('songs', id);
      await takeFrom(song, page);
      for (const stems of await stemsOf(song)) await takeFrom(stems, page);
    },

    /** Notes where a person's links are, and resolves to what takes them away. */
    async linksOf(who: { readonly platform: string; readonly person: string }): Promise<() => Promise<void>> {
      const songs: Shown[] = [];
      for await (const { id, address, posted, result } of storage.jobs.ofPerson(who.platform, who.person)) {
        if (posted === undefined || !result?.songs.length) continue;
        songs.push({ id, address, posted });
        if (songs.length > MOST_SONGS) songs.shift();
      }
      return async () => {
        for (const song of songs) await takeFrom(song, signedUrl('songs', song.id));
      };
    },
  };

  async function stemsOf(song: Job): Promise<Job[]> {
    const { taskId, result } = song;
    if (taskId === undefined) return [];
    const works = (result?.songs ?? []).flatMap(({ audioId }) =>
      audioId === undefined ? [] : SPLITS.map((split) => TAKE_WORK.stems({ taskId, audioId }, split)),
    );
    const made = await Promise.all(works.map((work) => allMade({ work, parent: song.id }, storage)));
    return made.flat();
  }
}
