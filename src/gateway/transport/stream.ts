import { type Answer, type AnswerEvent, type AnswerPart, answerSchema } from '../answers.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { type AnswerPiece, createAnswerCollector } from './collector.ts';
import { failed, GatewayError, isWebPage, refused } from './errors.ts';
import { parseJson, usable } from './json.ts';
import { isRefusal, readRefusal } from './refusal.ts';
import type { OpenReply, Reply, Requester, RequestInput } from './request.ts';
import { endedBy } from './retry.ts';
import { createEventDecoder, EventTooLongError, type ServerSentEvent } from './sse.ts';

/** Reads one dialect's answers. Made anew for every answer, so it may keep state. */
export interface PieceReader {
  /** Whether an event's data is the stream's end mark. */
  isEnd(data: string): boolean;
  /**
   * A chunk that is written as documented and brings text: the same piece as `read` gives, at a fraction of the cost. Undefined for
   * every other value, refusals among them.
   */
  readPlain(value: unknown): AnswerPiece | undefined;
  /** A stream's chunk, or a whole answer. Total: garbage reads as an empty piece. */
  read(value: unknown): AnswerPiece;
  /** What was only complete at the end. */
  end(): AnswerPart[];
}

/** A whole answer. Throws `nonsense` for one that holds nothing and does not say why. */
export function readAnswer(reply: Reply, reader: PieceReader): Answer {
  const collector = createAnswerCollector();
  // A stream without event framing is a list.
  for (const value of Array.isArray(reply.value) ? reply.value.slice(0, 10_000) : [reply.value]) {
    collector.add(reader.read(value));
  }
  collector.add({ parts: reader.end() });
  collector.flush();
  collector.take();
  const finish = collector.end();
  if (finish === undefined) throw reply.unusable('the answer holds nothing');
  return usable(reply, answerSchema, { ...collector.soFar(), finish });
}

/**
 * Streams an answer. Ends with one `finish` event, or throws GatewayError with what had come in `partial`:
 * `broken-stream` (ended or cut without an end mark, or unreadable), `stalled`, `aborted`, or the gateway's own error
 * when the stream carried one. Leaving the loop early ends the request.
 */
export async function* streamAnswer(
  requester: Requester,
  route: RouteName,
  input: () => RequestInput,
  createReader: () => PieceReader,
): AsyncGenerator<AnswerEvent, void, undefined> {
  const reply = await requester.open(route, input());
  const collector = createAnswerCollector();
  const reader = createReader();
  try {
    for await (const _ of readPieces(route, reply, reader, collector))
      for (const part of collector.take()) yield { type: 'part', part };
    collector.flush();
    collector.add({ parts: reader.end() });
    for (const part of collector.take()) yield { type: 'part', part };
    const finish = collector.end();
    if (finish === undefined) {
      throw failed(route, {
        code: 'nonsense',
        explanation: 'the answer holds nothing',
        status: reply.status,
      });
    }
    const { usage, model } = collector.soFar();
    yield { type: 'finish', finish, usage, model };
  } catch (error) {
    if (error instanceof GatewayError) {
      // What came in the same read as the failure.
      for (const part of collector.take()) yield { type: 'part', part };
      collector.flush();
      collector.take();
      error.partial = collector.soFar();
    }
    throw error;
  } finally {
    reply.close();
  }
}

/** Of one event, in characters. Streams carry text, a few words an event. */
const LONGEST_EVENT = 4 * 1024 * 1024;

/** Of events, in bytes: a usual chunk is some 330 bytes for one token, reasoning included. Only their content is kept. */
const LONGEST_STREAM = 64 * 1024 * 1024;

/** JSON is parsed before it is known how deep it nests only up to here, in characters: a level costs some 60 bytes. */
const LONGEST_UNSCANNED = 16_384;

type Collector = ReturnType<typeof createAnswerCollector>;

/**
 * Reads a stream into `collector`, until it has finished, and yields after each read of the network. Throws when the stream does not
 * finish.
 */
async function* readPieces(
  route: RouteName,
  reply: OpenReply,
  reader: PieceReader,
  collector: Collector,
): AsyncGenerator<void, void, undefined> {
  let bound: number = LONGEST_STREAM;
  const chunks = readChunks(route, reply, collector, () => bound);
  const opening = await readOpening(chunks);
  const refusedWith = (value: unknown, text: string, midStream: boolean) =>
    refused(route, { status: reply.status, refusal: readRefusal(value), text, midStream }, reply.redact);
  const problem = (code: 'broken-stream' | 'nonsense', explanation: string) =>
    failed(route, {
      code: isWebPage(textOf(opening)) ? 'no-api' : code,
      explanation,
      status: reply.status,
    });

  if (/^\s*[[{]/.test(textOf(opening))) {
    bound = ROUTES[route].maxBytes;
    const parsed = parseJson(textOf([...opening, ...(await Array.fromAsync(chunks))]));
    if (parsed === undefined)
      throw problem('broken-stream', 'the answer is no event stream, and no whole JSON');
    const values: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
    for (const [index, value] of values.slice(0, 10_000).entries()) {
      if (isRefusal(value)) throw refusedWith(value, textOf(opening), index > 0);
      collector.add(reader.read(value));
      yield;
    }
    return;
  }

  let events = 0;
  /** Whether the stream is over. */
  const take = ({ name, data }: ServerSentEvent): boolean => {
    const plain = name === undefined ? plainPiece(data) : undefined;
    if (plain !== undefined) {
      events++;
      collector.add(plain);
      return false;
    }
    if (reader.isEnd(data)) return true;
    if (data.trim() === '') return false;
    events++;
    const value = parseJson(data);
    if (name === 'error' || isRefusal(value)) throw refusedWith(value, data, true);
    if (value === undefined) throw problem('broken-stream', 'an event is not JSON');
    collector.add(reader.read(value));
    return false;
  };
  const plainPiece = (data: string): AnswerPiece | undefined => {
    if (data.length > LONGEST_UNSCANNED || !data.startsWith('{')) return undefined;
    try {
      return reader.readPlain(JSON.parse(data));
    } catch {
      return undefined;
    }
  };
  const decoder = createEventDecoder(LONGEST_EVENT);
  const eventsOf = (bytes: Uint8Array) => {
    try {
      return decoder.push(bytes);
    } catch (error) {
      if (error instanceof EventTooLongError) throw problem('broken-stream', error.message);
      throw error;
    }
  };
  for (const bytes of opening) if (eventsOf(bytes).some(take)) return;
  yield;
  for await (const bytes of chunks) {
    if (eventsOf(bytes).some(take)) return;
    yield;
  }
  if (collector.hasFinished() || decoder.end().some(take) || collector.hasFinished()) return;
  throw events === 0 && opening.length > 0
    ? problem('nonsense', 'the answer is no event stream')
    : problem('broken-stream', 'the stream ended without its end mark');
}

/** The bytes of a stream until it ends; once the answer has surely ended, however the rest goes is of no interest. */
async function* readChunks(
  route: RouteName,
  reply: OpenReply,
  { hasFinished, hasSurelyFinished, partsSeen }: Collector,
  maxBytes: () => number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  let partsAtEnd: number | undefined;
  for (;;) {
    // Keep-alive comments must not hold up a finished answer; what comes after a finish that was none does count.
    if (hasSurelyFinished() && partsSeen() !== partsAtEnd) {
      partsAtEnd = partsSeen();
      reply.linger();
    }
    let bytes: Uint8Array | undefined;
    try {
      bytes = await reply.nextBytes();
    } catch (error) {
      if (reply.deadline.ended === 'aborted') throw endedBy(route, reply.deadline) ?? error;
      const stalled = reply.deadline.ended === 'timeout';
      if (hasSurelyFinished() || (stalled && hasFinished())) return;
      throw failed(route, {
        code: stalled ? 'stalled' : 'broken-stream',
        explanation: stalled ? 'nothing came for too long' : 'the connection broke off',
        status: reply.status,
        cause: error,
      });
    }
    if (bytes === undefined) return;
    size += bytes.byteLength;
    if (size > maxBytes()) {
      throw failed(route, {
        code: 'broken-stream',
        explanation: `the stream is longer than ${maxBytes()} bytes`,
        status: reply.status,
      });
    }
    yield bytes;
  }
}

/** The first chunks, up to the first that shows what this is. */
async function readOpening(chunks: AsyncGenerator<Uint8Array, void, undefined>): Promise<Uint8Array[]> {
  const opening: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) return opening;
    opening.push(value);
    if (!/^\s*$/.test(textOf([value]))) return opening;
  }
}

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}
