import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type EmulatorContext, faultOf } from '../context.ts';
import { pieceSeconds } from './conversation.ts';

/** The events of a streamed answer in one dialect, each as the text after `data: `. */
export interface StreamDialect {
  /** Before the first words; none in some dialects. */
  readonly opening: readonly string[];
  readonly pieces: readonly string[];
  piece(text: string): string;
  /** The end of a finished answer, its end mark included. */
  readonly closing: readonly string[];
  /** An error that comes in the middle. */
  readonly error: string;
}

/** Streams an answer as server-sent events as fast as a reader reads, bent by the request's stream fault. */
export function sendEvents(
  context: EmulatorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  dialect: StreamDialect,
): FastifyReply {
  const how = faultOf(context, request, 'stream')?.how ?? null;
  const breaksAfter =
    how === null || how === 'no-end' ? Number.POSITIVE_INFINITY : Math.ceil(dialect.pieces.length / 2);
  const event = (data: string): string => `data: ${data}\n\n`;

  async function* events(): AsyncGenerator<string> {
    yield ': the answer follows\n\n';
    for (const data of dialect.opening) yield event(data);
    for (const [index, text] of dialect.pieces.entries()) {
      if (index >= breaksAfter) {
        if (how === 'break') request.raw.socket.destroy();
        else if (how === 'error') yield event(dialect.error);
        else if (how === 'stall') await new Promise(() => {});
        return;
      }
      await context.pause(pieceSeconds);
      yield event(dialect.piece(text));
    }
    if (how === 'no-end') return;
    for (const data of dialect.closing) yield event(data);
  }

  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .send(Readable.from(events(), { highWaterMark: 1 }));
}
