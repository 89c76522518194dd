/** How long a recording lasts, read from its content in a thread of its own: files come from outside. */
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { OpenedFile } from './store.ts';

/** Longer than any honest file needs, shorter than anybody waits. */
const PATIENCE_MS = 10_000;
const MAXIMUM_BYTES = 32 * 1024 * 1024;
/** Of the thread; a file that makes the reader ask for more is told nothing of. */
const MEMORY_MB = 192;

const answerSchema = z.object({ seconds: z.number().positive() });

/**
 * The length of a recording in seconds; undefined for what tells none, is larger than 32 MB, or leads the reader astray:
 * then its thread ends after 10 s, or where its memory does.
 */
export async function audioSeconds(
  { stream, bytes, contentType }: OpenedFile,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
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
    env: {},
    stdout: true,
    stderr: true,
  });
  try {
    return await new Promise<number | undefined>((resolve) => {
      const late = setTimeout(() => resolve(undefined), patienceMs);
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
