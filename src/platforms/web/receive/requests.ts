/** What the page sends: each a JSON object with a type. */
import { z } from 'zod';
import { WEB_LIMITS } from '../limits.ts';

const id = z.string().regex(/^[\w-]{1,64}$/);
const name = z.string().min(1).max(100);
const text = z.string().max(WEB_LIMITS.text);
/** Made by the page: a request that is sent again, since its answer was lost, is the same. */
const requestId = z.string().regex(/^[a-z\d]{16,20}$/);

const asking = { person: id, channel: id };
const acting = { ...asking, id: requestId };

const valueSchema = z.union([text, z.number(), z.boolean(), z.object({ upload: id })]);
const valuesSchema = z.record(name, valueSchema);
export type SentValues = z.infer<typeof valuesSchema>;

export const webRequestSchema = z.discriminatedUnion('type', [
  /** A typed line: a command, or talk. */
  z.object({
    type: z.literal('line'),
    ...acting,
    line: text,
    uploads: z.array(id).max(WEB_LIMITS.uploadsAtOnce).default([]),
    replyTo: id.optional(),
  }),
  z.object({ type: z.literal('press'), ...acting, message: id, action: name }),
  /** A filled form; `form` is its id. */
  z.object({ type: z.literal('form'), ...acting, form: name, options: valuesSchema }),
  /** The menu of a message opens a command's form with its text. */
  z.object({ type: z.literal('menu'), ...asking, message: id, command: name }),
  z.object({ type: z.literal('complete'), ...asking, line: text }),
  /** Completes a field of a form. */
  z.object({
    type: z.literal('suggest'),
    ...asking,
    form: name,
    option: name,
    typed: text,
    options: valuesSchema,
  }),
  /** Takes every message out of a channel. */
  z.object({ type: z.literal('clear'), ...asking }),
]);
export type WebRequest = z.infer<typeof webRequestSchema>;
/** A request that asks something of the bot. */
export type WebAsking<Type extends WebRequest['type']> = Extract<WebRequest, { type: Type }>;
