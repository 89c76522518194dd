/** A message as the page shows it and the history keeps it: data, and no markup. */
import { z } from 'zod';
import { isPlainObject } from '../../../core/invocation.ts';
import type { WebNode } from './markdown.ts';

const nodesSchema = z.array(z.custom<WebNode>(isPlainObject));

const mediaSchema = z.object({
  kind: z.enum(['audio', 'image', 'video', 'file']),
  name: z.string(),
  alt: z.string().optional(),
  caption: z.string().optional(),
  cover: z.boolean().optional(),
  /** Kept by us. Its link expires, so it is made when the message is sent to a page. */
  file: z.object({ name: z.string(), bytes: z.number(), contentType: z.string() }).optional(),
  /** Not kept: where it is, for a link. */
  url: z.string().optional(),
});
export type WebMedia = z.infer<typeof mediaSchema>;

const buttonSchema = z.object({
  label: z.string(),
  /** What it is called where it is heard alone. */
  spoken: z.string(),
  /** Of an action. */
  id: z.string().optional(),
  /** Of a button that opens a page. */
  url: z.string().optional(),
  emoji: z.string().optional(),
  emphasis: z.enum(['primary', 'danger']).optional(),
});
export type WebButton = z.infer<typeof buttonSchema>;

export const webContentSchema = z.object({
  title: z.string().optional(),
  /** The person who is mentioned. */
  mention: z.string().optional(),
  body: nodesSchema,
  fields: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
  media: z.array(mediaSchema).optional(),
  buttons: z.array(buttonSchema).optional(),
  /** Behind a menu. */
  more: z.array(buttonSchema).optional(),
  progress: z
    .object({
      stage: z.string(),
      startedAt: z.number(),
      queuePosition: z.number().optional(),
      estimateMs: z.number().optional(),
      until: z.number().optional(),
    })
    .optional(),
  footer: z.string().optional(),
});
export type WebContent = z.infer<typeof webContentSchema>;

export const webMessageSchema = webContentSchema.extend({
  id: z.string(),
  channel: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** A person; absent for the bot. */
  author: z.string().optional(),
  /** The only person who sees it. */
  to: z.string().optional(),
  replyTo: z.string().optional(),
  /** The command that the author used, as it would be typed. */
  line: z.string().optional(),
  /** Names of what the author attached. */
  attached: z.array(z.string()).optional(),
  /** The words as Markdown, for conversations: the page does not get them. */
  source: z.string(),
});
export type WebMessage = z.infer<typeof webMessageSchema>;
