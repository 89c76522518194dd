/** The sound of a song for a voice channel: an Opus file, encoded when the song is first played and stored with its job. */
import type { MediaFile } from '../core/message.ts';
import type { PartySong } from '../core/music/party.ts';
import type { Media } from '../media/media.ts';
import type { OpusEncoder } from '../media/opus/encoder.ts';
import { readPackets } from '../media/opus/packets.ts';
import type { Storage } from '../storage/storage.ts';

/** Duration of one packet. */
const PACKET_MS = 20;

export interface SoundOptions {
  readonly jobs: Pick<Storage['jobs'], 'read'>;
  /** Stores the file with its job, so that both are erased together. */
  readonly rememberOpus: (job: string, url: string, opus: MediaFile) => Promise<void>;
  readonly media: Pick<Media, 'open' | 'stat'>;
  readonly encoder: OpusEncoder;
  /** Returns the MP3 of a gateway address, stored or fetched again. Throws UserError. */
  readonly fileOf: (job: string, url: string) => Promise<MediaFile>;
}

type Sounding = Pick<PartySong, 'job' | 'index'>;

/** Resolves to the packets of a song, starting at a second. Throws UserError, MediaError and StorageError. */
export type SoundReader = (song: Sounding, seconds: number) => Promise<AsyncIterable<Uint8Array>>;

/** The job of the song, and so its sound, was erased. */
class SongGoneError extends Error {
  override readonly name = 'SongGoneError';
}

export function createSoundReader({ jobs, rememberOpus, media, encoder, fileOf }: SoundOptions): SoundReader {
  async function opusOf({ job: id, index }: Sounding): Promise<MediaFile> {
    const job = await jobs.read(id);
    const url = job?.result?.songs[index]?.audioUrl;
    if (!job || url === undefined) throw new SongGoneError('The song is no longer stored');
    const known = job.opus?.[url];
    if (known && (await media.stat(known.name)) !== undefined) return known;
    const opus = await encoder.encode(await fileOf(id, url), job.person.id);
    await rememberOpus(id, url, opus);
    return opus;
  }

  /** Opens the file at the first packet, so that unplayed sound leaves no file open. */
  async function* packetsOf({ name }: MediaFile, seconds: number): AsyncGenerator<Uint8Array> {
    const opened = await media.open(name);
    if (!opened) throw new SongGoneError('The song is no longer stored');
    yield* readPackets(opened.stream, Math.max(0, Math.round((seconds * 1000) / PACKET_MS)));
  }

  return async (song, seconds) => packetsOf(await opusOf(song), seconds);
}
