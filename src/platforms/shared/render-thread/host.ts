/** Rendering in a thread of its own: what people and models write may take a parser seconds, or all of its stack. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../../core/telemetry/log.ts';

/** Text with at most so many characters and a low {@link worstCost} is rendered at once, within a few milliseconds. */
const SHORT = 4_000;
const CHEAP = 250_000;
/** Of computing, for one text. Honest ones take a twentieth on a small machine. */
const BUDGET_MS = 2_000;
const MEMORY_MB = 128;
/** Texts that failed are remembered by their beginning, so that a growing one fails once. */
const REMEMBERED = 20;
const BEGINNING = 300;

/** Resolves to what `plainly` makes of a text that cannot be rendered. Never rejects. */
export type Renderer<Input extends { readonly text: string }, Output> = (input: Input) => Promise<Output>;

export interface RenderThread<Input extends { readonly text: string }, Output> {
  readonly render: Renderer<Input, Output>;
  /** Ends the thread. What comes later is plain if it would need the thread. */
  close(): void;
}

export interface RenderThreadOptions<Input, Output> {
  /** The module that exports `create` under its own name. */
  readonly module: URL;
  /** Makes a function whose input and output can be cloned. It may remember what it has rendered. */
  readonly create: () => (input: Input) => Output;
  /** Replaces that function where it fails. Linear in the length of the text. */
  readonly plainly: (input: Input) => Output;
  readonly log: Log;
  /** Milliseconds of computing for one text. */
  readonly budgetMs?: number;
}

interface Thread {
  readonly worker: Worker;
  /** It has loaded, which counts towards no text's budget. */
  readonly ready: Promise<unknown>;
}

/** The thread starts with the first text that may cost much, and renders one text after the other. */
export function createRenderThread<Input extends { readonly text: string }, Output>({
  module,
  create,
  plainly,
  log,
  budgetMs = BUDGET_MS,
}: RenderThreadOptions<Input, Output>): RenderThread<Input, Output> {
  const failed: { readonly beginning: string; readonly length: number }[] = [];
  const render = create();
  let thread: Thread | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const hasFailed = (text: string): boolean =>
    failed.some(({ beginning, length }) => text.length >= length && text.startsWith(beginning));

  function start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: { module: module.href, name: create.name },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      env: {},
    });
    const ready = once(worker, 'message');
    // Every error is told to the render that waits.
    worker.on('error', () => {});
    ready.catch(() => {});
    return { worker, ready };
  }

  /** Rejects when the thread has used more CPU time than its budget. Time on a busy machine does not count. */
  async function answerOf(worker: Worker, input: Input): Promise<unknown> {
    const settled = new AbortController();
    const { signal } = settled;
    const before = await worker.cpuUsage();
    const answer = once(worker, 'message', { signal });
    const watch = async (): Promise<never> => {
      for (let left = budgetMs; left > 0; ) {
        await delay(left, undefined, { signal, ref: false });
        const { user, system } = await worker.cpuUsage(before);
        left = Math.ceil(budgetMs - (user + system) / 1_000);
      }
      throw new RangeError(`A text took more than ${budgetMs} ms`);
    };
    worker.postMessage(input);
    try {
      const [output] = await Promise.race([answer, watch()]);
      return output;
    } finally {
      settled.abort();
    }
  }

  async function renderInThread(input: Input): Promise<Output> {
    thread ??= start();
    const { worker, ready } = thread;
    worker.ref();
    try {
      await ready;
      const output = await answerOf(worker, input);
      worker.unref();
      // Sound: the thread posts what such a function returns.
      return output as Output;
    } catch (error) {
      thread = undefined;
      void worker.terminate();
      throw error;
    }
  }

  return {
    async render(input) {
      const { text } = input;
      try {
        if (text.length <= SHORT && worstCost(text) <= CHEAP) return render(input);
        const rendered = last.then(() =>
          closed || hasFailed(text) ? plainly(input) : renderInThread(input),
        );
        last = rendered.catch(() => {});
        return await rendered;
      } catch (error) {
        failed.splice(0, Math.max(0, failed.length - REMEMBERED + 1));
        failed.push({ beginning: text.slice(0, BEGINNING), length: text.length });
        if (!closed) log.warn({ err: error, characters: text.length }, 'A text is shown plain');
        return plainly(input);
      }
    },

    close() {
      closed = true;
      void thread?.worker.terminate();
      thread = undefined;
    },
  };
}

/** How many characters are read if each sign of markup, word and line makes the parser read the whole text. */
const worstCost = (text: string): number =>
  text.length * (1 + (text.match(/[!-/:-@[-`{-~\s]|[^\p{ASCII}](?=\w)/gu)?.length ?? 0));
