/** Takes links to the pages of songs out of what chats show. Such a link opens nothing any more, so a failure is logged alone. */

import type { Job } from '../../core/job.ts';
import { TAKE_WORK } from '../../core/song.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { allMade } from '../../jobs/made.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { Storage } from '../../storage/storage.ts';

/** Of one person, when all that they made is erased: each is two requests to a chat. */
const MOST_SONGS = 200;

const SPLITS = ['separate_vocal', 'split_stem'] as const;

type Shown = Pick<Job, 'id' | 'address' | 'posted'>;

export interface PageLinksOptions {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly platforms: readonly Platform[];
  readonly urlOf: (song: Pick<Job, 'id'>) => string;
  readonly log: Log;
}

export function createPageLinks({ storage, platforms, urlOf, log }: PageLinksOptions) {
  async function takeFrom({ id, address, posted }: Shown, page: string): Promise<void> {
    if (posted === undefined) return;
    try {
      await platforms.find(({ name }) => name === address.platform)?.removeLinks?.(address, posted, page);
    } catch (error) {
      log.warn({ job: id, err: error }, 'A link to a page that is gone is still shown');
    }
  }

  return {
    /** Those to the page of a song: under the song, and under its stems. */
    async takeAway(id: string): Promise<void> {
      const song = await storage.jobs.read(id);
      if (song === undefined) return;
      const page = urlOf(song);
      await takeFrom(song, page);
      for (const stems of await stemsOf(song)) await takeFrom(stems, page);
    },

    /** Notes where those of a person are, and resolves to what takes them away. */
    async ofPerson(platform: string, person: string): Promise<() => Promise<void>> {
      const songs: Shown[] = [];
      for await (const { id, address, posted, result } of storage.jobs.ofPerson(platform, person)) {
        if (posted === undefined || !result?.songs.length) continue;
        songs.push({ id, address, posted });
        if (songs.length > MOST_SONGS) songs.shift();
      }
      return async () => {
        for (const song of songs) await takeFrom(song, urlOf(song));
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
