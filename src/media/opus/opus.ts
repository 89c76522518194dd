/** A song as Ogg Opus, made once from its MP3, in a thread: nothing is encoded while it plays. */
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { KeptFile } from '../../core/message.ts';
import { threadEnvironment } from '../../core/thread-environment.ts';
import { MediaError } from '../errors.ts';
import type { Media } from '../media.ts';

/** Six times a long song. Its sound takes 0.4 MB a second in the thread. */
const MOST_SECONDS = 1_200;
const MAXIMUM_BYTES = 32 * 1024 * 1024;
const MEMORY_MB = 256;
/** A song of three minutes takes two seconds; on a busy machine many times that. */
const TIMEOUT_MS = 120_000;

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
async function encodeInThread(
  content: Uint8Array<ArrayBuffer>,
  { mostSeconds = MOST_SECONDS, timeoutMs = TIMEOUT_MS } = {},
): Promise<Uint8Array> {
  const worker = new Worker(new URL('./encode-worker.ts', import.meta.url), {
    workerData: { content, mostSeconds },
    transferList: [content.buffer],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    env: threadEnvironment(),
    stdout: true,
    stderr: true,
  });
  try {
    return await new Promise<Uint8Array>((resolve, reject) => {
      const refuse = (cause?: unknown): void => {
        clearTimeout(late);
        reject(new MediaError('type', 'The song could not be made ready for a voice channel', { cause }));
      };
      const late = setTimeout(refuse, timeoutMs);
      worker.on('message', (answer: unknown) => {
        clearTimeout(late);
        const { data } = answerSchema.safeParse(answer);
        if (data) resolve(data.opus);
        else refuse();
      });
      worker.on('error', refuse);
      worker.on('exit', () => refuse());
    });
  } finally {
    await worker.terminate();
  }
}
