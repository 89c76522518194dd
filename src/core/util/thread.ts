/** Runs work in a worker thread because it takes long, needs much memory, or reads untrusted files. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { builtModule } from './installation.ts';

/** Node would let 48 MB of garbage pile up, which is too much for encoding a song within 100 MB. */
const YOUNG_MB = 8;

export interface ThreadOptions {
  readonly signal: AbortSignal;
  /** Limit of the thread's heap; the process's limit by default. */
  readonly memoryMb?: number;
  /** Standard input of the thread. Destroyed at the end in any case. */
  readonly stdin?: Readable;
}

/**
 * Starts `module`, a `.ts` file, with `input` and resolves to the first message it posts. Rejects if the thread fails or ends
 * without a message, if its standard input fails, or if the signal aborts. The thread gets no environment variables.
 */
export async function runInThread(module: URL, input: unknown, options: ThreadOptions): Promise<unknown> {
  const { worker, ended, stop } = startThread(module, input, options);
  const unanswered = ended.then(() => {
    throw new Error('The thread ended without an answer');
  });
  try {
    const message = once(worker, 'message', { signal: options.signal });
    const [answer]: unknown[] = await Promise.race([message, unanswered]);
    return answer;
  } finally {
    await stop();
  }
}

/** Like {@link runInThread}, but yields the thread's standard output as it is written. */
export async function* streamFromThread(
  module: URL,
  input: unknown,
  options: ThreadOptions,
): AsyncGenerator<Uint8Array> {
  const { worker, ended, stop } = startThread(module, input, options);
  ended.catch((cause) => worker.stdout.destroy(cause));
  try {
    yield* worker.stdout;
    await ended;
  } finally {
    await stop();
  }
}

function startThread(module: URL, input: unknown, { signal, memoryMb, stdin }: ThreadOptions) {
  const worker = new Worker(builtModule(module), {
    workerData: input,
    ...(memoryMb && {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    }),
    env: {},
    stdin: stdin !== undefined,
    stdout: true,
    stderr: true,
  });
  const read = stdin && worker.stdin && pipeline(stdin, worker.stdin);
  return {
    worker,
    ended: Promise.all([once(worker, 'exit', { signal }), read]),
    async stop() {
      stdin?.destroy();
      await worker.terminate();
    },
  };
}
