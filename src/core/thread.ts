/** Work in a thread of its own: it takes long, needs much memory, or reads files that came from outside. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';

/** Node would let garbage grow to 48 MB before it is collected, and a song for a voice channel takes no more than 100 MB. */
const YOUNG_MB = 8;

export interface ThreadOptions {
  readonly signal: AbortSignal;
  /** Of its heap; as much as the process has, unless said. */
  readonly memoryMb?: number;
  /** Its standard input. Destroyed at the end, read or not. */
  readonly stdin?: Readable;
}

/**
 * Starts `module` with `input` and resolves to the first message that it posts. Rejects when it fails, ends without an answer, its
 * standard input fails, or the signal aborts. The thread sees nothing secret of the environment.
 */
export async function answerOfThread(module: URL, input: unknown, options: ThreadOptions): Promise<unknown> {
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

/** Like {@link answerOfThread}, with what the module writes to its standard output, as it is written. */
export async function* outputOfThread(
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
  const worker = new Worker(module, {
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
