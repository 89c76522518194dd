import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamDialect } from '../bends.ts';
import type { EmulatorContext } from '../context.ts';
import { pieceSeconds } from './conversation.ts';

/** Streams an answer as server-sent events as fast as a reader reads. */
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
    .send(Readable.from(context.bends.streaming?.(request, dialect) ?? events(), { highWaterMark: 1 }));
}

export const serverSentEvent = (data: string): string => `data: ${data}\n\n`;
