/** How long a recording lasts, read from its content in a thread of its own: files come from outside. */
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { threadEnvironment } from '../../core/thread-environment.ts';
import type { OpenedFile } from '../store/store.ts';

/** Longer than any honest file needs. */
const TIMEOUT_MS = 10_000;
const MAXIMUM_BYTES = 32 * 1024 * 1024;
/** Memory of the thread. If a file needs more, its length is unknown. */
const MEMORY_MB = 192;

const answerSchema = z.object({ seconds: z.number().positive() });

/**
 * The length of a recording in seconds. Undefined for a file without a length, one over 32 MB, and one on which the reader
 * takes more than 10 s or the thread's memory.
 */
export async function audioSeconds(
  { stream, bytes, contentType }: OpenedFile,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<number | undefined> {
  if (bytes > MAXIMUM_BYTES) {
    stream.destroy();
    return undefined;
  }
  const content = new Uint8Array(await buffer(stream));
  const worker = new Worker(new URL('./length-worker.ts', import.meta.url), {
    workerData: { content, contentType },
    transferList: [content.buffer],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    env: threadEnvironment(),
    stdout: true,
    stderr: true,
  });
  try {
    return await new Promise<number | undefined>((resolve) => {
      const late = setTimeout(() => resolve(undefined), timeoutMs);
      const settle = (seconds: number | undefined): void => {
        clearTimeout(late);
        resolve(seconds);
      };
      worker.on('message', (answer: unknown) => settle(answerSchema.safeParse(answer).data?.seconds));
      worker.on('error', () => settle(undefined));
      worker.on('exit', () => settle(undefined));
    });
  } finally {
    await worker.terminate();
  }
}
