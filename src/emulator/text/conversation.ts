import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EmulatorContext } from '../context.ts';
import type { StreamDialect } from '../fault-hooks.ts';

/** An attached image: its bytes or its URL. */
export type Picture =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly claimedType: string }
  | { readonly kind: 'address'; readonly url: string };

/** One turn of a conversation, in any dialect. */
export interface ConversationMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** Creates a message from texts and images in any order. */
export function messageOf(
  role: ConversationMessage['role'],
  content: string | readonly (string | Picture)[],
): ConversationMessage {
  const parts = typeof content === 'string' ? [content] : content;
  return {
    role,
    text: parts.filter((part) => typeof part === 'string').join('\n'),
    pictures: parts.filter((part) => typeof part !== 'string'),
  };
}

export function pictureOf(claimedType: string, base64: string): Picture {
  return { kind: 'bytes', claimedType, bytes: Buffer.from(base64, 'base64') };
}

/** Counts four characters as a token, like public tokenisers for English, and an image as 258. */
export function countTokens(messages: readonly ConversationMessage[]): number {
  return messages.reduce(
    (total, { text, pictures }) => total + countTextTokens(text) + 3 + 258 * pictures.length,
    0,
  );
}

export function countTextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Splits a text into pieces for streaming: words with the space after them. */
export function piecesOf(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}

/** Seconds between two streamed pieces at speed 1, the pace of a fast reader. */
const pieceSeconds = 0.035;

/** Streams an answer as server-sent events at reading pace. */
export function sendEvents(
  context: EmulatorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  dialect: StreamDialect,
): FastifyReply {
  async function* events(): AsyncGenerator<string> {
    yield ': the answer follows\n\n';
    for (const data of dialect.opening) yield serverSentEvent(data);
    for (const text of dialect.pieces) {
      await context.pause(pieceSeconds);
      yield serverSentEvent(dialect.piece(text));
    }
    for (const data of dialect.closing) yield serverSentEvent(data);
  }

  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .send(Readable.from(context.faultHooks.streaming?.(request, dialect) ?? events(), { highWaterMark: 1 }));
}

export const serverSentEvent = (data: string): string => `data: ${data}\n\n`;
