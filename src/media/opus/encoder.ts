/** A song as Opus packets, made once from its MP3, in a thread: nothing is encoded while it plays. */
import PQueue from 'p-queue';
import type { KeptFile } from '../../core/message.ts';
import { outputOfThread } from '../../core/thread.ts';
import { MediaError } from '../errors.ts';
import type { Media } from '../media.ts';

/** Six times a long song. */
const MOST_SECONDS = 1_200;
/** A song of three minutes takes two seconds; on a busy machine many times that. */
const TIMEOUT_MS = 120_000;
/** Of the thread's heap. Sound goes through it in pieces. */
const MEMORY_MB = 64;

export interface OpusEncoder {
  /**
   * The packets of a kept MP3, as a kept file. Throws MediaError: `missing` where the MP3 is kept no more, `type` where it cannot be
   * decoded or lasts too long, and what the store throws.
   */
  encode(mp3: Pick<KeptFile, 'name'>): Promise<KeptFile>;
}

/** One song at a time: two threads would take both cores of a small machine from those who wait for other things. */
export function createOpusEncoder(media: Pick<Media, 'open' | 'seconds' | 'keepOpus'>): OpusEncoder {
  const queue = new PQueue({ concurrency: 1 });
  return { encode: ({ name }) => queue.add(() => media.keepOpus(opusOf(name, media))) };
}

async function* opusOf(name: string, media: Pick<Media, 'open' | 'seconds'>): AsyncGenerator<Uint8Array> {
  // The thread would find out only when it had encoded as much.
  if (((await media.seconds(name)) ?? 0) > MOST_SECONDS)
    throw new MediaError('type', 'The song is too long for a voice channel');
  const opened = await media.open(name);
  if (opened === undefined) throw new MediaError('missing', 'The song is no longer stored');
  const { stream } = opened;
  const module = new URL('./encode-worker.ts', import.meta.url);
  const options = { stdin: stream, memoryMb: MEMORY_MB, signal: AbortSignal.timeout(TIMEOUT_MS) };
  try {
    yield* outputOfThread(module, { mostSeconds: MOST_SECONDS }, options);
  } catch (cause) {
    throw (
      stream.errored ??
      new MediaError('type', 'The song could not be converted for a voice channel', { cause })
    );
  }
}
