/** Reads files that came from outside in a thread of their own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../core/thread-environment.ts';

export interface ThreadLimits {
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

/**
 * Starts `module` with `input` and resolves to the first message that it posts. `input.content` is handed over: it is empty
 * afterwards. The thread sees nothing secret of the environment. Rejects when it fails, ends without an answer, or takes too long.
 */
export async function answerOfThread<Input extends { readonly content: Uint8Array<ArrayBuffer> }>(
  module: URL,
  input: Input,
  { memoryMb, timeoutMs }: ThreadLimits,
): Promise<unknown> {
  const worker = new Worker(module, {
    workerData: input,
    transferList: [input.content.buffer],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    env: threadEnvironment(),
    stdout: true,
    stderr: true,
  });
  const signal = AbortSignal.timeout(timeoutMs);
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
