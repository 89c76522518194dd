/** Work in a thread of its own: it takes long, needs much memory, or reads files that came from outside. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ThreadOptions {
  readonly signal: AbortSignal;
  /** Of its heap; as much as the process has, unless said. */
  readonly memoryMb?: number;
  /** Handed over, not copied: it is empty afterwards. */
  readonly content?: Uint8Array<ArrayBuffer>;
}

/**
 * Starts `module` with `input` and resolves to the first message that it posts. Rejects when it fails, ends without an answer, or the
 * signal aborts. The thread sees nothing secret of the environment.
 */
export async function answerOfThread(
  module: URL,
  input: unknown,
  { signal, memoryMb, content }: ThreadOptions,
): Promise<unknown> {
  const worker = new Worker(module, {
    workerData: input,
    ...(content && { transferList: [content.buffer] }),
    ...(memoryMb && { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
    env: {},
    stdout: true,
    stderr: true,
  });
  const ended = once(worker, 'exit', { signal }).then(() => {
    throw new Error('The thread ended without an answer');
  });
  try {
    const [answer]: unknown[] = await Promise.race([once(worker, 'message', { signal }), ended]);
    return answer;
  } finally {
    await worker.terminate();
  }
}
