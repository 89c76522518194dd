import { z } from 'zod';
import { anyMembers, count, maybe, members } from './transport/json.ts';

/** What chat, msg and gen have in common: one answer, whatever the dialect on the wire. */

export const textPart = z.object({ type: z.literal('text'), text: z.string() });
export type TextPart = z.infer<typeof textPart>;

export const imagePart = z.object({
  type: z.literal('image'),
  mimeType: z.string(),
  /** Base64, without a `data:` prefix. */
  data: z.string().min(1),
});

export const toolCallPart = z.object({
  type: z.literal('tool-call'),
  name: z.string().min(1),
  arguments: anyMembers,
  id: z.string().optional(),
  /** Opaque; sent back with the call in the next question (gen's `thoughtSignature`). */
  signature: z.string().optional(),
});

/** The model's reasoning, not part of the answer itself. */
const thoughtPart = z.object({ type: z.literal('thought'), text: z.string() });

const answerPart = z.discriminatedUnion('type', [textPart, imagePart, toolCallPart, thoughtPart]);
export type AnswerPart = z.infer<typeof answerPart>;

const finish = z.object({
  reason: z.enum(['stop', 'length', 'blocked', 'refused', 'tool-calls', 'other']),
  /** The gateway's own word for it. */
  detail: z.string().optional(),
});
export type Finish = z.infer<typeof finish>;

/** Tokens, as far as they are known; undefined when nothing is. */
export const usage = members({ inputTokens: maybe(count), outputTokens: maybe(count) }).refine(
  (tokens) => Object.keys(tokens).length > 0,
);
export type Usage = z.infer<typeof usage>;

/** A whole answer, in whichever dialect it came. */
export const answerSchema = z.object({
  parts: z.array(answerPart),
  finish,
  usage: usage.optional(),
  /** The model that answered, as the gateway names it. */
  model: z.string().optional(),
});
export type Answer = z.infer<typeof answerSchema>;

/** What had come when a stream broke off. */
export type AnswerSoFar = Omit<Answer, 'finish'>;

/** `part`: text and thought parts are fragments, to be appended in order. `finish` comes once, last. */
export type AnswerEvent = { type: 'part'; part: AnswerPart } | ({ type: 'finish' } & Omit<Answer, 'parts'>);

/** Options that every method of the gateway takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}
