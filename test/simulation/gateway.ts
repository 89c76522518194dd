/** The gateway of one history: takes paid work, calls back and answers polls as the history says, and knows the truth. */
import type { AnswerEvent } from '../../src/gateway/answers.ts';
import type { Gateway } from '../../src/gateway/client.ts';
import type { VideoTask } from '../../src/gateway/media/responses.ts';
import type { RouteName } from '../../src/gateway/routes.ts';
import type { GatewayErrorCode } from '../../src/gateway/transport/error-table.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import type { History, Outcome, PaidReply } from './history.ts';
import { type Kernel, MOST_SKEW_MS, type Process } from './kernel.ts';

const USUAL: Outcome = { stages: { text: 10_000, first: 20_000, complete: 60_000 }, copies: 1 };
const WORDS = ['Because ', 'it ', 'rains.'];

/** Paid work as the gateway knows it. */
export interface Taken {
  readonly task: string;
  /** What was asked for: the prompt, which is another one for each request of a history. */
  readonly prompt: string;
  readonly route: RouteName;
}

export interface Callback {
  readonly job: string;
  readonly stage: 'text' | 'first' | 'complete' | 'failed';
  readonly body: string;
}

export class SimulatedGateway {
  readonly taken: Taken[] = [];
  /** Prompts of which some request was answered so that nobody can know whether it was taken. */
  readonly uncertain = new Set<string>();
  /** Requests that came before their Retry-After was over. */
  readonly impatient: string[] = [];
  readonly #kernel: Kernel;
  readonly #history: History;
  readonly #callBack: (callback: Callback) => void;
  readonly #readyAt = new Map<string, number | undefined>();
  readonly #notBefore = new Map<string, number>();
  #requests = 0;
  #polls = 0;

  constructor(kernel: Kernel, history: History, callBack: (callback: Callback) => void) {
    this.#kernel = kernel;
    this.#history = history;
    this.#callBack = callBack;
  }

  /** The client that one process has of it. */
  clientOf(process: Process): Gateway {
    const music = async (
      route: RouteName,
      request: { prompt?: string | undefined; callBackUrl: string },
    ) => ({
      taskId: await this.#submit(process, route, request.prompt ?? '', jobOf(request.callBackUrl)),
    });
    const never = () => Promise.reject(new TypeError('not asked for in simulations'));
    return {
      music: {
        generate: (request) => music('music/generate', request),
        generateLyrics: (request) => music('music/generate-lyrics', request),
        extend: never,
        generateCover: never,
        uploadCover: never,
        uploadExtend: never,
        addVocals: never,
        addInstrumental: never,
        vocalRemoval: never,
        wavGenerate: never,
        mp4Generate: never,
        styleGenerate: never,
        timestampedLyrics: never,
        generatePersona: never,
      },
      media: {
        createImage: async ({ prompt }) => {
          const task = await this.#submit(process, 'media/image', prompt);
          return { images: [`https://gateway.example/${task}.png`] };
        },
        createVideo: async ({ prompt = '' }) => ({
          taskId: await this.#submit(process, 'media/video', prompt),
          status: 'pending',
        }),
        queryVideo: (task) => this.#poll(process, task),
      },
      chat: {
        stream: (question, { signal } = {}) => this.#answer(process, question.turns, signal),
      },
      gen: {
        stream: (question, { signal } = {}) => this.#answer(process, question.turns, signal),
        generateImage: never,
        callTools: never,
        think: never,
      },
      msg: { complete: never, countTokens: never },
      models: {
        list: async () => [],
        refresh: async () => [],
        startRefreshing: () => undefined,
        stop: async () => undefined,
        cached: () => [],
        resolve: () => ({ kind: 'unlisted' }),
      },
    };
  }

  /** Takes the work or not, as the history says. Throws GatewayError. */
  #submit(process: Process, route: RouteName, prompt: string, job?: string): Promise<string> {
    return this.#kernel.effect(process, `asks the gateway for ${route} “${prompt}”`, () => {
      const reply = this.#history.paid[this.#requests] ?? { type: 'taken' };
      this.#requests += 1;
      const key = `${route} ${prompt}`;
      // Another replica may wait by a clock that is fast.
      if (this.#kernel.now < (this.#notBefore.get(key) ?? 0) - MOST_SKEW_MS) this.impatient.push(key);
      this.#kernel.tell('gateway', `${reply.type}: ${route} “${prompt}”`);
      const task = `task-${this.#requests}`;
      if (reply.type === 'taken' || reply.type === 'answer lost') this.#take({ task, prompt, route }, job);
      if (reply.type === 'taken') return task;
      if (reply.type !== 'busy' && reply.type !== 'refused') this.uncertain.add(prompt);
      if (reply.type === 'busy' && reply.retryAfterMs !== undefined)
        this.#notBefore.set(key, this.#kernel.now + reply.retryAfterMs);
      throw refusal(route, reply);
    });
  }

  #take(taken: Taken, job: string | undefined): void {
    const outcome = this.#history.outcomes[this.taken.length] ?? USUAL;
    this.taken.push(taken);
    const { complete, failed } = outcome.stages;
    const doneAt = complete ?? failed;
    this.#readyAt.set(taken.task, doneAt === undefined ? undefined : this.#kernel.now + doneAt);
    if (job === undefined) return;
    for (const [stage, afterMs] of Object.entries(outcome.stages)) {
      const callback: Callback = {
        job,
        // The keys are those of Outcome.
        stage: stage as Callback['stage'],
        body: JSON.stringify(bodyOf(taken, stage as Callback['stage'])),
      };
      for (let copy = 0; copy < outcome.copies; copy += 1) {
        this.#kernel.after(afterMs + copy * 700, () => this.#callBack(callback));
      }
    }
  }

  #poll(process: Process, task: string): Promise<VideoTask> {
    return this.#kernel.effect(process, `asks the gateway about ${task}`, (): VideoTask => {
      const reply = this.#history.polls[this.#polls] ?? 'answered';
      this.#polls += 1;
      if (reply === 'unavailable') throw failure('media/task', 'unavailable', 'no');
      if (reply === 'busy') throw failure('media/task', 'rate', 'no', 30_000);
      if (reply === 'not found') throw failure('media/task', 'not-found', 'no');
      const readyAt = this.#readyAt.get(task);
      return readyAt !== undefined && this.#kernel.now >= readyAt
        ? { status: 'succeeded', videoUrl: `https://gateway.example/${task}.mp4` }
        : { status: 'running' };
    });
  }

  async *#answer(
    process: Process,
    turns: readonly { readonly parts: readonly object[] }[],
    signal: AbortSignal | undefined,
  ): AsyncIterable<AnswerEvent> {
    await this.#submit(process, 'chat/completions', JSON.stringify(turns.at(-1)?.parts));
    for (const text of WORDS) {
      await this.#kernel.effect(process, 'reads a part of the answer', () => undefined);
      if (signal?.aborted) throw failure('chat/completions', 'aborted', 'unknown');
      yield { type: 'part', part: { type: 'text', text } };
    }
    yield { type: 'finish', finish: { reason: 'stop' } };
  }
}

function jobOf(callBackUrl: string): string | undefined {
  return new URL(callBackUrl).pathname.split('/')[3];
}

function refusal(route: RouteName, reply: Exclude<PaidReply, { type: 'taken' }>): GatewayError {
  switch (reply.type) {
    case 'answer lost':
    case 'request lost':
      return failure(route, 'network', 'unknown');
    case 'busy':
      return failure(route, 'rate', 'no', reply.retryAfterMs);
    case 'refused':
      return failure(route, 'invalid', 'no');
    default:
      return reply satisfies never;
  }
}

function failure(
  route: RouteName,
  code: GatewayErrorCode,
  taken: 'no' | 'unknown',
  retryAfterMs?: number,
): GatewayError {
  const retryable = taken === 'no' && code !== 'invalid' && code !== 'not-found';
  return new GatewayError({ route, code, taken, retryable, retryAfterMs });
}

/** Callbacks as the public API sends them. */
function bodyOf({ task, prompt, route }: Taken, stage: Callback['stage']): object {
  if (stage === 'failed')
    return { code: 501, msg: 'Audio generation failed', data: { callbackType: 'error', task_id: task } };
  if (route === 'music/generate-lyrics')
    return {
      code: 200,
      msg: 'ok',
      data: {
        callbackType: 'complete',
        task_id: task,
        data: [{ title: prompt, text: `Rain, for ${prompt}` }],
      },
    };
  const data = ['one', 'two'].map((take) => ({
    id: `${task}-${take}`,
    title: prompt,
    prompt: '[Verse]\nRain on the roof',
    duration: 91.5,
    ...(stage === 'text' || (stage === 'first' && take === 'two')
      ? {}
      : { audio_url: `https://gateway.example/${task}-${take}.mp3` }),
  }));
  return { code: 200, msg: 'ok', data: { callbackType: stage, task_id: task, data } };
}
