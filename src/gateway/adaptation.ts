/** Learns the request fields that a model refuses, so that each model refuses them only once. */
import { BoundedMap } from '../core/util/bounded-map.ts';
import type { Question } from './questions.ts';
import { GatewayError } from './transport/errors.ts';

const MAX_MODELS = 500;
/** One retry for each field that a model may refuse. */
const MAX_RETRIES = 3;

export interface Adaptation {
  /** Replaces a larger limit. */
  readonly maxTokens?: number | undefined;
  readonly omitsMaxTokens?: true;
  /** GPT-5 and later accept only `max_completion_tokens`: https://platform.openai.com/docs/api-reference/chat/create */
  readonly usesCompletionTokens?: true;
  readonly omitsStreamOptions?: true;
}

const BOUND = /max_?(?:completion_|output_)?tokens/i;

/** Returns undefined if the refusal names no field that can be changed. */
function nextAdaptation(
  before: Adaptation,
  error: unknown,
  maxTokens: number | undefined,
): Adaptation | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'invalid' || error.taken !== 'no') return undefined;
  // Without a status, the request was not sent.
  if (error.status === undefined) return undefined;
  const { message } = error;
  if (/stream_options/i.test(message) && !before.omitsStreamOptions)
    return { ...before, omitsStreamOptions: true };
  if (maxTokens === undefined || before.omitsMaxTokens || !BOUND.test(message)) return undefined;
  if (/max_completion_tokens/i.test(message) && !before.usesCompletionTokens)
    return { ...before, usesCompletionTokens: true };
  const sent = before.maxTokens ?? maxTokens;
  const numbers = [...message.matchAll(/\b\d{1,9}\b/g)].map(([digits]) => Number(digits));
  const smaller = numbers.filter((number) => number > 0 && number < sent && number !== error.status);
  return smaller.length > 0
    ? { ...before, maxTokens: Math.max(...smaller) }
    : { ...before, omitsMaxTokens: true };
}

/** The adaptations of one dialect. */
export function createAdaptations() {
  const adaptations = new BoundedMap<string, Adaptation>(MAX_MODELS);

  /** Returns the question with the token limit of its model. */
  function limitTokens(question: Question, { maxTokens, omitsMaxTokens }: Adaptation): Question {
    const limit = Math.min(
      question.maxTokens ?? Number.POSITIVE_INFINITY,
      maxTokens ?? Number.POSITIVE_INFINITY,
    );
    return { ...question, maxTokens: omitsMaxTokens || !Number.isFinite(limit) ? undefined : limit };
  }

  /** Returns true if the request should be repeated. */
  function learn({ model, maxTokens }: Question, error: unknown): boolean {
    const next = nextAdaptation(adaptations.get(model) ?? {}, error, maxTokens);
    if (next) adaptations.set(model, next);
    return next !== undefined;
  }

  return {
    async call<Result>(
      question: Question,
      ask: (question: Question, adaptation: Adaptation) => Promise<Result>,
    ): Promise<Result> {
      for (let tries = 1; ; tries += 1) {
        const adaptation = adaptations.get(question.model) ?? {};
        try {
          return await ask(limitTokens(question, adaptation), adaptation);
        } catch (error) {
          if (tries > MAX_RETRIES || !learn(question, error)) throw error;
        }
      }
    },

    /** The same for a stream. Models refuse before the first event. */
    async *stream<Event>(
      question: Question,
      ask: (question: Question, adaptation: Adaptation) => AsyncIterable<Event>,
    ): AsyncGenerator<Event, void, undefined> {
      for (let tries = 1; ; tries += 1) {
        const adaptation = adaptations.get(question.model) ?? {};
        let hasBegun = false;
        try {
          for await (const event of ask(limitTokens(question, adaptation), adaptation)) {
            hasBegun = true;
            yield event;
          }
          return;
        } catch (error) {
          if (hasBegun || tries > MAX_RETRIES || !learn(question, error)) throw error;
        }
      }
    },
  };
}
