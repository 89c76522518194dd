/** Music in voice channels: put together when it is asked for the first time, or when some was left to go on with. */
import { repeat, sleep } from '../core/clock.ts';
import type { Address, Person } from '../core/invocation.ts';
import type { Job } from '../core/job.ts';
import type { MediaSource } from '../core/message.ts';
import type { PartySong, PartyTools } from '../core/party.ts';
import { coverWords, TAKE_WORK, titleOf } from '../core/song.ts';
import type { System } from '../core/system.ts';
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

/** How often it is looked whether this process got the connection to a server that has a party. */
const SWEEP_MS = 2_000;
/** What the radio plays. */
const RADIO_MS = 28 * 24 * 3_600_000;
const RADIO_SONGS = 100;

export interface PartyServiceOptions extends Pick<System, 'now' | 'random' | 'newId' | 'log'> {
  readonly storage: Storage;
  readonly media: Media;
  readonly jobs: Jobs;
  /** The one that has voice channels; undefined where none has. */
  readonly platform: Platform | undefined;
  readonly pageUrl: (song: Job) => Promise<string | undefined>;
}

export interface PartyService {
  /** Undefined where the address has no voice channels. */
  toolsFor(address: Address, person: Person): Promise<PartyTools | undefined>;
  /** Goes on with what was played, now and when this process gets the connection of another. */
  watch(): void;
  /** Takes a person out of what is played. Throws StorageError. */
  forget(platform: string, person: string): Promise<void>;
  stop(): Promise<void>;
}

export function createPartyService(options: PartyServiceOptions): PartyService {
  const { platform, log } = options;
  let parties: Promise<Parties> | undefined;
  let watching: ReturnType<typeof repeat> | undefined;
  const load = (): Promise<Parties> => (parties ??= loadParties(options));

  /** The list of parties is read without loading what plays them. */
  async function sweep(): Promise<void> {
    try {
      const { length } = await storeOf(options, platform?.name ?? '').guilds();
      if (parties || length > 0) await (await load()).sweep();
    } catch (error) {
      log.warn({ err: error }, 'Parties could not be read');
    }
  }

  return {
    async toolsFor(address, person) {
      if (!platform?.voice || address.platform !== platform.name) return undefined;
      return (await load()).toolsFor(address, person);
    },

    watch() {
      if (!platform?.voice) return;
      watching = repeat(sweep, SWEEP_MS);
    },

    async forget(name, person) {
      if (parties && name === platform?.name) await (await parties).forget(person);
      else await storeOf(options, name).forget(person);
    },

    async stop() {
      await watching?.stop();
      await (await parties?.catch(() => undefined))?.stop();
    },
  };
}

const storeOf = ({ storage, now }: PartyServiceOptions, platform: string) =>
  createPartyStore({ settings: storage.settings, platform, now });

async function loadParties(options: PartyServiceOptions): Promise<Parties> {
  const { storage, media, jobs, platform, now } = options;
  if (!platform?.voice) throw new TypeError('The platform has no voice channels');
  const voice = await platform.voice();
  const remote = (url: string): MediaSource => ({ type: 'remote', url });
  return createParties({
    ...options,
    sleep,
    platform,
    voice,
    store: storeOf(options, platform.name),
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
      if (!job || url === undefined) return undefined;
      const file = await jobs.file(id, remote(url), ['image']);
      return {
        kind: 'image',
        name: 'cover',
        source: { type: 'kept', file },
        cover: true,
        alt: coverWords(job),
      };
    },
    async pageOf({ job: id }) {
      const job = await storage.jobs.read(id);
      return job && !job.pageWithdrawn ? await options.pageUrl(job) : undefined;
    },
    async songsOf(address) {
      const found = await storage.jobs.recentSongs(address, RADIO_SONGS);
      return found
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

/** From the karaoke of a take, where somebody asked for it: playing spends nothing. */
async function timedLines(
  { job: parent, index }: PartySong,
  storage: Pick<Storage, 'jobs'>,
): Promise<readonly LyricLine[]> {
  const song = await storage.jobs.read(parent);
  const audioId = song?.result?.songs[index]?.audioId;
  if (song?.taskId === undefined || audioId === undefined) return [];
  const work = TAKE_WORK.words({ taskId: song.taskId, audioId });
  const [made] = await existingResults({ parent, work }, storage);
  return made?.result?.karaoke?.lines ?? [];
}
