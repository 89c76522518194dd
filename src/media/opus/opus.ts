/** A song as Ogg Opus, made once from its MP3, in a thread: nothing is encoded while it plays. */
import { buffer } from 'node:stream/consumers';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { KeptFile } from '../../core/message.ts';
import { answerOfThread } from '../../core/thread.ts';
import { MediaError } from '../errors.ts';
import type { Media } from '../media.ts';

/** Six times a long song. Its sound takes 0.4 MB a second in the thread. */
const MOST_SECONDS = 1_200;
const MAXIMUM_BYTES = 32 * 1024 * 1024;
/** A song of three minutes takes two seconds; on a busy machine many times that. */
const TIMEOUT_MS = 120_000;
const MEMORY_MB = 256;

const answerSchema = z.object({ opus: z.instanceof(Uint8Array) });

export interface OpusEncoder {
  /**
   * The Ogg Opus file of a kept MP3. Throws MediaError: `missing` where the MP3 is kept no more, `type` where it cannot be
   * decoded, and what the store throws.
   */
  encode(mp3: Pick<KeptFile, 'name'>): Promise<KeptFile>;
}

/** One song at a time: two threads would take both cores of a small machine from those who wait for other things. */
export function createOpusEncoder(media: Pick<Media, 'open' | 'keepOpus'>): OpusEncoder {
  const queue = new PQueue({ concurrency: 1 });
  return {
    encode: ({ name }) =>
      queue.add(async () => {
        const opened = await media.open(name);
        if (opened === undefined) throw new MediaError('missing', 'The song is not kept any more');
        if (opened.bytes > MAXIMUM_BYTES) {
          opened.stream.destroy();
          throw new MediaError('type', 'The song is too large to be played in a voice channel');
        }
        const opus = await encodeInThread(new Uint8Array(await buffer(opened.stream)));
        return await media.keepOpus(opus);
      }),
  };
}

/** Throws MediaError `type` where the thread fails or takes too long. */
async function encodeInThread(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const module = new URL('./encode-worker.ts', import.meta.url);
  try {
    const options = { content, memoryMb: MEMORY_MB, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const answer = await answerOfThread(module, { content, mostSeconds: MOST_SECONDS }, options);
    return answerSchema.parse(answer).opus;
  } catch (cause) {
    throw new MediaError('type', 'The song could not be made ready for a voice channel', { cause });
  }
}
