/** Converts a song to Opus packets once, in a thread, so that nothing is encoded during playback. */
import type { MediaFile } from '../../core/message.ts';
import { streamFromThread } from '../../core/util/thread.ts';
import { MediaError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { Media } from '../media.ts';

/** Six times a long song. */
const MAX_SECONDS = 1_200;
/** A song of three minutes takes two seconds, and many times that on a busy machine. */
const TIMEOUT_MS = 120_000;
/** Heap of the thread. Audio is processed in pieces. */
const MEMORY_MB = 64;

export interface OpusEncoder {
  /**
   * Stores the packets of a stored MP3, requested by this person. Throws MediaError: `missing` if the MP3 is no longer stored,
   * `type` if it cannot be decoded or is too long, and errors of the store.
   */
  encode(mp3: Pick<MediaFile, 'name'>, person: string): Promise<MediaFile>;
}

/** Encodes one song at a time, in turns between people: two threads would occupy both cores of a small machine. */
export function createOpusEncoder(media: Pick<Media, 'open' | 'seconds' | 'keepOpus'>): OpusEncoder {
  const inTurn = createFairQueue(1);
  return { encode: ({ name }, person) => inTurn(person, () => media.keepOpus(opusOf(name, media))) };
}

async function* opusOf(name: string, media: Pick<Media, 'open' | 'seconds'>): AsyncGenerator<Uint8Array> {
  // Checked first, because the thread would notice only after encoding that much.
  if (((await media.seconds(name)) ?? 0) > MAX_SECONDS)
    throw new MediaError(
      'type',
      'The song is too long for a voice channel. Choose a shorter one with /party play.',
    );
  const opened = await media.open(name);
  if (opened === undefined)
    throw new MediaError('missing', 'The song is no longer available. Choose another one with /party play.');
  const { stream } = opened;
  const module = new URL('./encode-worker.ts', import.meta.url);
  const options = { stdin: stream, memoryMb: MEMORY_MB, signal: AbortSignal.timeout(TIMEOUT_MS) };
  try {
    yield* streamFromThread(module, { maxSeconds: MAX_SECONDS }, options);
  } catch (cause) {
    throw (
      stream.errored ??
      new MediaError('type', 'The song could not be converted for a voice channel', { cause })
    );
  }
}
