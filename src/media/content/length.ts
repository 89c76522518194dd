/** The length of a recording, read in a separate thread because files are untrusted. */
import { z } from 'zod';
import { runInThread } from '../../core/util/thread.ts';
import type { OpenedFile } from '../store/media-store.ts';

/** Longer than any valid file needs. */
const TIMEOUT_MS = 10_000;
const MAXIMUM_BYTES = 32 * 1024 * 1024;
/** Memory of the thread. If a file needs more, its length is unknown. */
const MEMORY_MB = 192;

const answerSchema = z.object({ seconds: z.number().positive() });

/**
 * Returns the length of a recording in seconds. Undefined if the length is unknown, the file exceeds 32 MB, or reading
 * exceeds 10 s or the memory limit.
 */
export async function audioSeconds(
  { stream, bytes, contentType }: OpenedFile,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<number | undefined> {
  if (bytes > MAXIMUM_BYTES) {
    stream.destroy();
    return undefined;
  }
  const module = new URL('./length-worker.ts', import.meta.url);
  const options = { stdin: stream, memoryMb: MEMORY_MB, signal: AbortSignal.timeout(timeoutMs) };
  const answer = await runInThread(module, { contentType }, options).catch(() => {
    if (stream.errored) throw stream.errored;
    // An invalid file has no length.
    return undefined;
  });
  return answerSchema.safeParse(answer).data?.seconds;
}
