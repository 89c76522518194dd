/** Request fields that a model refuses, learned from its refusals, so that each model refuses them once. */
import { BoundedMap } from '../core/util/bounded-map.ts';
import type { Question } from './questions.ts';
import { GatewayError } from './transport/errors.ts';

const MOST_MODELS = 500;
/** One for each field that a model could refuse. */
const MOST_TRIES = 3;

export interface Adaptation {
  /** Replaces a larger bound. */
  readonly maxTokens?: number | undefined;
  readonly omitsMaxTokens?: true;
  /** GPT-5 and later take `max_completion_tokens` only: https://platform.openai.com/docs/api-reference/chat/create */
  readonly usesCompletionTokens?: true;
  readonly omitsStreamOptions?: true;
}

const BOUND = /max_?(?:completion_|output_)?tokens/i;

/** Returns undefined if the refusal names no field that could be sent otherwise. */
function adapted(before: Adaptation, error: unknown, maxTokens: number | undefined): Adaptation | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'invalid' || error.taken !== 'no') return undefined;
  // Without a status, it was not sent.
  if (error.status === undefined) return undefined;
  const { message } = error;
  if (/stream_options/i.test(message) && !before.omitsStreamOptions)
    return { ...before, omitsStreamOptions: true };
  if (maxTokens === undefined || before.omitsMaxTokens || !BOUND.test(message)) return undefined;
  if (/max_completion_tokens/i.test(message) && !before.usesCompletionTokens)
    return { ...before, usesCompletionTokens: true };
  const sent = before.maxTokens ?? maxTokens;
  const named = [...message.matchAll(/\b\d{1,9}\b/g)].map(([digits]) => Number(digits));
  const smaller = named.filter((number) => number > 0 && number < sent && number !== error.status);
  return smaller.length > 0
    ? { ...before, maxTokens: Math.max(...smaller) }
    : { ...before, omitsMaxTokens: true };
}

/** For one dialect. */
export function createAdaptations() {
  const learned = new BoundedMap<string, Adaptation>(MOST_MODELS);

  /** The question within the bound that its model takes. */
  function prepared(question: Question, { maxTokens, omitsMaxTokens }: Adaptation): Question {
    const bound = Math.min(
      question.maxTokens ?? Number.POSITIVE_INFINITY,
      maxTokens ?? Number.POSITIVE_INFINITY,
    );
    return { ...question, maxTokens: omitsMaxTokens || !Number.isFinite(bound) ? undefined : bound };
  }

  /** True if the request is worth repeating. */
  function learn({ model, maxTokens }: Question, error: unknown): boolean {
    const next = adapted(learned.get(model) ?? {}, error, maxTokens);
    if (next) learned.set(model, next);
    return next !== undefined;
  }

  return {
    async call<Result>(
      question: Question,
      ask: (question: Question, adaptation: Adaptation) => Promise<Result>,
    ): Promise<Result> {
      for (let tries = 1; ; tries += 1) {
        const adaptation = learned.get(question.model) ?? {};
        try {
          return await ask(prepared(question, adaptation), adaptation);
        } catch (error) {
          if (tries > MOST_TRIES || !learn(question, error)) throw error;
        }
      }
    },

    /** The same for a stream. A model refuses before it writes. */
    async *stream<Event>(
      question: Question,
      ask: (question: Question, adaptation: Adaptation) => AsyncIterable<Event>,
    ): AsyncGenerator<Event, void, undefined> {
      for (let tries = 1; ; tries += 1) {
        const adaptation = learned.get(question.model) ?? {};
        let hasBegun = false;
        try {
          for await (const event of ask(prepared(question, adaptation), adaptation)) {
            hasBegun = true;
            yield event;
          }
          return;
        } catch (error) {
          if (hasBegun || tries > MOST_TRIES || !learn(question, error)) throw error;
        }
      }
    },
  };
}
