/** The gateway of a history: accepts paid work, calls back and answers polls as the history demands, and records what really happened. */
import type { Answer, AnswerEvent, AnswerPart } from '../../src/gateway/answers.ts';
import type { Gateway } from '../../src/gateway/client.ts';
import type { VideoTask } from '../../src/gateway/media/responses.ts';
import type { Question } from '../../src/gateway/questions.ts';
import type { RouteName } from '../../src/gateway/routes.ts';
import type { GatewayErrorCode } from '../../src/gateway/transport/errors.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import { type Callback, callbackOf, type Taken } from './callbacks.ts';
import type { History, Outcome, PaidReply, Stage } from './history.ts';
import { type Kernel, MOST_SKEW_MS, type Process } from './kernel.ts';
import type { Watch } from './watch.ts';

const USUAL: Outcome = { stages: { text: 10_000, first: 20_000, complete: 60_000 }, copies: 1 };
const WORDS = ['Because ', 'it ', 'rains.'];
/** Pause between the words of a slow answer. */
const SLOW_MS = 4_000;
/** An image from a gen model. */
const PICTURE: AnswerPart = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };

export class SimulatedGateway {
  readonly taken: Taken[] = [];
  /** Prompts of requests that may have been accepted. */
  readonly uncertain = new Set<string>();
  readonly #kernel: Kernel;
  readonly #history: History;
  readonly #watch: Watch;
  readonly #callBack: (callback: Callback) => void;
  readonly #readyAt = new Map<string, number | undefined>();
  #requests = 0;
  #polls = 0;
  #answers = 0;

  constructor(kernel: Kernel, history: History, watch: Watch, callBack: (callback: Callback) => void) {
    this.#kernel = kernel;
    this.#history = history;
    this.#watch = watch;
    this.#callBack = callBack;
  }

  /** The client of one process. */
  clientOf(process: Process): Omit<Gateway, 'checkKey'> {
    const music = async (route: RouteName, prompt: string, callBackUrl: string) => ({
      taskId: await this.#submit(process, route, prompt, jobOf(callBackUrl)),
    });
    const never = () => Promise.reject(new TypeError('not used in simulations'));
    const stream =
      (route: RouteName) => (question: Question, options?: { signal?: AbortSignal | undefined }) =>
        this.#stream(process, route, question, options?.signal);
    return {
      music: {
        generate: ({ prompt = '', callBackUrl }) => music('music/generate', prompt, callBackUrl),
        generateLyrics: ({ prompt, callBackUrl }) => music('music/generate-lyrics', prompt, callBackUrl),
        wavGenerate: ({ audioId, callBackUrl }) => music('music/wav-generate', audioId, callBackUrl),
        styleGenerate: async ({ content }) => {
          await this.#submit(process, 'music/style-generate', content);
          return `polished ${content}`;
        },
        timestampedLyrics: async ({ audioId }) => {
          await this.#submit(process, 'music/timestamped-lyrics', audioId);
          return [
            { word: '[Verse]\nRain', startSeconds: 1, endSeconds: 2 },
            { word: 'falls\n', startSeconds: 2, endSeconds: 3 },
          ];
        },
        generatePersona: async ({ audioId }) => ({
          personaId: await this.#submit(process, 'music/generate-persona', audioId),
        }),
        extend: never,
        generateCover: never,
        uploadCover: never,
        uploadExtend: never,
        addVocals: never,
        addInstrumental: never,
        vocalRemoval: never,
        mp4Generate: never,
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
      chat: { stream: stream('chat/completions') },
      gen: {
        stream: stream('gen/stream'),
        generateImage: (question) => this.#answer(process, 'gen/image', question, [PICTURE]),
        callTools: (question) => this.#callTools(process, question),
        think: (question) => this.#answer(process, 'gen/think', question, []),
      },
      msg: {
        complete: (question) => this.#answer(process, 'msg/messages', question, []),
      },
      models: {
        refresh: async () => [],
        startRefreshing: () => undefined,
        stop: async () => undefined,
        cached: () => [],
        resolve: () => ({ kind: 'unlisted' }),
        find: async () => ({ kind: 'unlisted' }),
        preferred: () => undefined,
        ready: async () => undefined,
        readsImages: () => false,
        dialects: ['chat', 'msg', 'gen'],
      },
    };
  }

  /** Accepts the work or not, as the history demands. Throws GatewayError. */
  async #submit(process: Process, route: RouteName, prompt: string, job?: string): Promise<string> {
    const key = `${route} “${prompt}”${job === undefined ? '' : ` for ${job}`}`;
    this.#watch.paying(process, prompt);
    let answerAfterMs = 0;
    const answer = () => {
      const reply: PaidReply = this.#history.paid[this.#requests] ?? { type: 'taken' };
      this.#requests += 1;
      // Another replica may use a clock that is fast.
      this.#watch.asked(key, MOST_SKEW_MS);
      this.#kernel.tell('gateway', `${reply.type}: ${key}`);
      const task = `task-${this.#requests}`;
      if (reply.type === 'taken' || reply.type === 'answer lost') this.#take({ task, prompt, route, job });
      if (reply.type === 'taken') {
        answerAfterMs = reply.answerAfterMs ?? 0;
        return task;
      }
      if (reply.type === 'answer lost' || reply.type === 'request lost') this.uncertain.add(prompt);
      if (reply.type === 'busy') this.#watch.refused(key, reply.retryAfterMs);
      throw refusal(route, reply);
    };
    // The lease was checked in this step.
    const task = await this.#kernel.effect(process, `requests ${key}`, answer, { leaves: true });
    if (answerAfterMs > 0) await this.#pass(process, answerAfterMs);
    return task;
  }

  #take(taken: Taken): void {
    const { job } = taken;
    const outcome = this.#history.outcomes[this.taken.length] ?? USUAL;
    this.taken.push(taken);
    this.#watch.taken(taken);
    const { complete, failed } = outcome.stages;
    const doneAt = complete ?? failed;
    this.#readyAt.set(taken.task, doneAt === undefined ? undefined : this.#kernel.now + doneAt);
    if (job === undefined) return;
    for (const [stage, afterMs] of Object.entries(outcome.stages)) {
      // Sound because the keys are those of Outcome.
      const callback = callbackOf(taken, job, stage as Stage);
      for (let copy = 0; copy < outcome.copies; copy += 1)
        this.#kernel.after(afterMs + copy * 700, () => this.#callBack(callback));
    }
  }

  #poll(process: Process, task: string): Promise<VideoTask> {
    const key = `${process.name} about ${task}`;
    return this.#kernel.effect(process, `polls ${task}`, (): VideoTask => {
      const reply = this.#history.polls[this.#polls] ?? 'answered';
      this.#polls += 1;
      this.#watch.asked(key, 0);
      if (reply !== 'answered') this.#kernel.tell('gateway', reply);
      switch (reply) {
        case 'unavailable':
          throw failure('media/task', 'unavailable', 'no');
        case 'busy':
          this.#watch.refused(key, 30_000);
          throw failure('media/task', 'rate', 'no', 30_000);
        case 'not found':
          throw failure('media/task', 'not-found', 'no');
        case 'unknown':
          return { status: 'unknown' };
        case 'failed':
          return { status: 'failed', failure: { code: 'blocked' } };
        case 'answered': {
          const readyAt = this.#readyAt.get(task);
          return readyAt !== undefined && this.#kernel.now >= readyAt
            ? { status: 'succeeded', videoUrl: `https://gateway.example/${task}.mp4` }
            : { status: 'running' };
        }
        default:
          return reply satisfies never;
      }
    });
  }

  async *#stream(
    process: Process,
    route: RouteName,
    question: Question,
    signal: AbortSignal | undefined,
  ): AsyncIterable<AnswerEvent> {
    await this.#submit(process, route, wordsOf(question));
    const reply = this.#history.answers[this.#answers] ?? 'whole';
    this.#answers += 1;
    for (const [index, text] of WORDS.entries()) {
      if (reply === 'slow') await this.#pass(process, SLOW_MS, signal);
      await this.#kernel.effect(process, 'reads a part of the answer', () => undefined);
      if (signal?.aborted) throw failure(route, 'aborted', 'unknown');
      if (reply === 'breaks at once' || (reply === 'breaks' && index === 1)) {
        this.#kernel.tell('gateway', 'breaks off');
        throw failure(route, 'broken-stream', 'unknown');
      }
      if (reply !== 'silent') yield { type: 'part', part: { type: 'text', text } };
    }
    yield { type: 'finish', finish: { reason: 'stop' } };
  }

  /** Time passes, in the process too. */
  #pass(process: Process, milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#kernel.after(milliseconds, resolve, process);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  }

  /** Returns the answer at once. */
  async #answer(
    process: Process,
    route: RouteName,
    question: Question,
    more: readonly AnswerPart[],
  ): Promise<Answer> {
    await this.#submit(process, route, wordsOf(question));
    return { parts: [{ type: 'text', text: WORDS.join('') }, ...more], finish: { reason: 'stop' } };
  }

  /** Requests a song first, then answers. */
  async #callTools(process: Process, question: Question): Promise<Answer> {
    await this.#submit(process, 'gen/tools', wordsOf(question));
    if (question.turns.length > 1)
      return { parts: [{ type: 'text', text: 'A song is on its way.' }], finish: { reason: 'stop' } };
    const call: AnswerPart = { type: 'tool-call', name: 'song', arguments: { prompt: 'rain' } };
    return { parts: [call], finish: { reason: 'tool-calls' } };
  }
}

function wordsOf({ turns }: Question): string {
  return JSON.stringify(turns.map(({ parts }) => parts));
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
