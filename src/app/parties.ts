/** Parties: music in voice channels. */

import type { Job } from '../core/job.ts';
import type { MediaSource } from '../core/message.ts';
import type { PartySong } from '../core/music/party.ts';
import { coverAltText, TAKE_WORK, titleOf } from '../core/music/song.ts';
import type { System } from '../core/system.ts';
import { repeat } from '../core/util/clock.ts';
import type { LyricLine } from '../core/work.ts';
import { existingResults } from '../jobs/existing.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Media } from '../media/media.ts';
import { createOpusEncoder } from '../media/opus/encoder.ts';
import { createParties, type Parties } from '../party/parties.ts';
import { createSoundReader } from '../party/sound.ts';
import { createPartyStore } from '../party/store.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Storage } from '../storage/storage.ts';

/** How often to check whether this process now holds the connection to a server with a party. */
const SWEEP_MS = 2_000;
/** The radio plays this many of the latest songs, up to this age. */
const RADIO_MS = 28 * 24 * 3_600_000;
const RADIO_SONGS = 100;

export interface PartyParts extends System {
  readonly storage: Storage;
  readonly media: Media;
  readonly jobs: Jobs;
  readonly pageUrl: (song: Job) => Promise<string | undefined>;
}

/** Undefined if the platform has no voice channels. */
export function partiesOf(platform: Platform | undefined, parts: PartyParts): Parties | undefined {
  const { storage, media, jobs, now } = parts;
  if (!platform?.voice) return undefined;
  const remote = (url: string): MediaSource => ({ type: 'remote', url });
  return createParties({
    ...parts,
    platform,
    voice: platform.voice,
    store: createPartyStore({ settings: storage.settings, platform: platform.name, now }),
    sound: createSoundReader({
      jobs: storage.jobs,
      rememberOpus: jobs.rememberOpus,
      media,
      encoder: createOpusEncoder(media),
      fileOf: (job, url) => jobs.file(job, remote(url), ['audio']),
    }),
    linesOf: (song) => timedLines(song, storage),
    async coverOf({ job: id, index }) {
      const job = await storage.jobs.read(id);
      const url = job?.result?.songs[index]?.imageUrl;
      if (!job || job.hidden || url === undefined) return undefined;
      const file = await jobs.file(id, remote(url), ['image']);
      return {
        kind: 'image',
        name: 'cover',
        source: { type: 'stored', file },
        cover: true,
        alt: coverAltText(job),
      };
    },
    async pageOf({ job: id }) {
      const job = await storage.jobs.read(id);
      return job && !job.hidden && !job.pageWithdrawn ? await parts.pageUrl(job) : undefined;
    },
    async songsOf(address) {
      const songs = await storage.jobs.recentSongs(address, RADIO_SONGS);
      return songs
        .filter(({ createdAt }) => now() - createdAt <= RADIO_MS)
        .flatMap((job) => {
          const index = job.result?.songs.findIndex(({ audioUrl }) => audioUrl !== undefined) ?? -1;
          const { durationSeconds, title = titleOf(job) } = job.result?.songs[index] ?? {};
          if (index < 0) return [];
          return [{ job: job.id, index, title, ...(durationSeconds && { seconds: durationSeconds }) }];
        });
    },
  });
}

/** Resumes open parties, now and when this process takes over a connection. */
export function watchParties(parties: Parties): ReturnType<typeof repeat> {
  return repeat(() => parties.sweep(), { everyMs: SWEEP_MS });
}

/** Returns lyrics only if they were synced before: playing a song must not spend anything. */
async function timedLines(
  { job: parent, index }: PartySong,
  storage: Pick<Storage, 'jobs'>,
): Promise<readonly LyricLine[]> {
  const song = await storage.jobs.read(parent);
  if (song?.hidden) return [];
  const audioId = song?.result?.songs[index]?.audioId;
  if (song?.taskId === undefined || audioId === undefined) return [];
  const work = TAKE_WORK.words({ taskId: song.taskId, audioId });
  const [synced] = await existingResults({ parent, work }, storage);
  return synced?.result?.karaoke?.lines ?? [];
}
