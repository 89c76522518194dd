/** Schemas of the JSON requests from the page. */
import { z } from 'zod';
import { WEB_LIMITS } from '../limits.ts';

const id = z.string().regex(/^[\w-]{1,64}$/);
const name = z.string().min(1).max(100);
const text = z.string().max(WEB_LIMITS.text);
/** Created by the page. A request repeated after a lost response has the same id. */
const requestId = z.string().regex(/^[a-z\d]{16,20}$/);

const contextFields = { person: id, channel: id };
const actionFields = { ...contextFields, id: requestId };

const valueSchema = z.union([text, z.number(), z.boolean(), z.object({ upload: id })]);
const valuesSchema = z.record(name, valueSchema);
export type SentValues = z.infer<typeof valuesSchema>;

export const webRequestSchema = z.discriminatedUnion('type', [
  /** A typed line: a command or a message. */
  z.object({
    type: z.literal('line'),
    ...actionFields,
    line: text,
    uploads: z.array(id).max(WEB_LIMITS.uploadsAtOnce).default([]),
    replyTo: id.optional(),
  }),
  z.object({ type: z.literal('press'), ...actionFields, message: id, action: name }),
  /** A submitted form; `form` is its id. */
  z.object({ type: z.literal('form'), ...actionFields, form: name, options: valuesSchema }),
  /** A message menu opens a command's form with the message's text. */
  z.object({ type: z.literal('menu'), ...contextFields, message: id, command: name }),
  z.object({ type: z.literal('complete'), ...contextFields, line: text }),
  /** Completes a field of a form. */
  z.object({
    type: z.literal('suggest'),
    ...contextFields,
    form: name,
    option: name,
    typed: text,
    options: valuesSchema,
  }),
  /** Removes every message from a channel. */
  z.object({ type: z.literal('clear'), ...contextFields }),
  /** Brings the messages of the latest clear back. */
  z.object({ type: z.literal('restore'), ...contextFields }),
]);
export type WebRequest = z.infer<typeof webRequestSchema>;
/** The request with this type. */
export type RequestOf<Type extends WebRequest['type']> = Extract<WebRequest, { type: Type }>;
