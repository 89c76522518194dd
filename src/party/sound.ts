/** The sound of a song for a voice channel: its Opus file, made when it is first played and kept with its job. */
import type { KeptFile } from '../core/message.ts';
import type { PartySong } from '../core/music/party.ts';
import type { Media } from '../media/media.ts';
import type { OpusEncoder } from '../media/opus/encoder.ts';
import { readPackets } from '../media/opus/packets.ts';
import type { Storage } from '../storage/storage.ts';

/** Of one packet. */
const PACKET_MS = 20;

export interface SoundOptions {
  readonly jobs: Pick<Storage['jobs'], 'read'>;
  /** Keeps it with its job, so that both are erased together. */
  readonly rememberOpus: (job: string, url: string, opus: KeptFile) => Promise<void>;
  readonly media: Pick<Media, 'open' | 'stat'>;
  readonly encoder: OpusEncoder;
  /** The MP3 at a gateway's address, as it is kept or fetched anew. Throws UserError. */
  readonly fileOf: (job: string, url: string) => Promise<KeptFile>;
}

type Sounding = Pick<PartySong, 'job' | 'index'>;

/** Resolves to the packets of a song from a second on. Throws UserError, MediaError and StorageError. */
export type SoundReader = (song: Sounding, seconds: number) => Promise<AsyncIterable<Uint8Array>>;

/** A song whose job was erased has no sound any more. */
class SongGoneError extends Error {
  override readonly name = 'SongGoneError';
}

export function createSoundReader({ jobs, rememberOpus, media, encoder, fileOf }: SoundOptions): SoundReader {
  async function opusOf({ job: id, index }: Sounding): Promise<KeptFile> {
    const job = await jobs.read(id);
    const url = job?.result?.songs[index]?.audioUrl;
    if (!job || url === undefined) throw new SongGoneError('The song is no longer stored');
    const known = job.opus?.[url];
    if (known && (await media.stat(known.name)) !== undefined) return known;
    const opus = await encoder.encode(await fileOf(id, url));
    await rememberOpus(id, url, opus);
    return opus;
  }

  /** Opens the file with the first packet: sound that is never played leaves no file open. */
  async function* packetsOf({ name }: KeptFile, seconds: number): AsyncGenerator<Uint8Array> {
    const opened = await media.open(name);
    if (!opened) throw new SongGoneError('The song is no longer stored');
    yield* readPackets(opened.stream, Math.max(0, Math.round((seconds * 1000) / PACKET_MS)));
  }

  return async (song, seconds) => packetsOf(await opusOf(song), seconds);
}
