import { type AnswerPiece, createAnswerCollector } from './answer-collector.ts';
import { type Answer, type AnswerEvent, type AnswerPart, answer, type Finish } from './answers.ts';
import { GatewayError } from './errors.ts';
import { failed, refused } from './failures.ts';
import { parseJson } from './json.ts';
import { keptBody } from './redact.ts';
import { isRefusal, readRefusal } from './refusal.ts';
import { endedBy, type OpenReply, type Reply, type Requester, type RequestInput } from './request.ts';
import { usable } from './responses.ts';
import { ROUTES, type RouteName } from './routes.ts';
import { createEventDecoder, EventTooLongError, type ServerSentEvent } from './sse.ts';

/** One dialect's way of saying an answer; made anew for every answer, so it may remember. */
export interface PieceReader {
  /** Whether an event's data is the stream's end mark. */
  isEnd(data: string): boolean;
  /** A stream's chunk, or a whole answer. Total: garbage reads as an empty piece. */
  read(value: unknown): AnswerPiece;
  /** What was only complete at the end. */
  end(): AnswerPart[];
}

/** A whole answer. Throws `nonsense` for one that holds nothing and does not say why. */
export function readAnswer(reply: Reply, reader: PieceReader): Answer {
  const collector = createAnswerCollector();
  // A list is what a stream without event framing looks like.
  for (const value of Array.isArray(reply.value) ? reply.value.slice(0, 10_000) : [reply.value]) {
    collector.add(reader.read(value));
  }
  collector.add({ parts: reader.end() });
  collector.flush();
  const finish = collector.finish ?? { reason: 'other' };
  if (collector.empty && !explains(finish)) throw reply.unusable('the answer holds nothing');
  return usable(reply, answer, { ...collector.soFar(), finish });
}

/** Whether a finish makes an empty answer understandable. */
function explains({ reason }: Finish): boolean {
  return reason === 'blocked' || reason === 'refused' || reason === 'length';
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
    for await (const value of readValues(route, reply, reader, () => collector.finish !== undefined)) {
      for (const part of collector.add(reader.read(value))) yield { type: 'part', part };
    }
    for (const part of [...collector.flush(), ...collector.add({ parts: reader.end() })])
      yield { type: 'part', part };
    const finish = collector.finish ?? { reason: 'other' };
    if (collector.empty && !explains(finish)) {
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
      collector.flush();
      error.partial = collector.soFar();
    }
    throw error;
  } finally {
    reply.close();
  }
}

/** Of one event, in characters. Streams carry text, a few words an event. */
const LONGEST_EVENT = 4 * 1024 * 1024;

/** The JSON values of a stream, until it has finished; throws when it does not finish. */
async function* readValues(
  route: RouteName,
  reply: OpenReply,
  reader: PieceReader,
  answerEnded: () => boolean,
): AsyncGenerator<unknown, void, undefined> {
  const chunks = readChunks(route, reply, answerEnded);
  const opening = await readOpening(chunks);
  const problem = (code: 'broken-stream' | 'nonsense', explanation: string) =>
    failed(route, { code, explanation, status: reply.status, body: keptBody(reply.redact, textOf(opening)) });

  if (/^\s*[[{]/.test(textOf(opening))) {
    const parsed = parseJson(textOf(await allOf(opening, chunks)));
    if (!parsed.ok) throw problem('broken-stream', 'the answer is no event stream, and no whole JSON');
    const values: unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
    for (const [index, value] of values.slice(0, 10_000).entries()) {
      if (isRefusal(value)) throw refusedInStream(route, reply, value, textOf(opening), index > 0);
      yield value;
    }
    return;
  }

  let events = 0;
  const values = function* (decoded: ServerSentEvent[]): Generator<unknown, boolean> {
    for (const event of decoded) {
      if (reader.isEnd(event.data)) return true;
      if (event.data.trim() === '') continue;
      events++;
      const parsed = parseJson(event.data);
      const value = parsed.ok ? parsed.value : undefined;
      if (event.name === 'error' || isRefusal(value))
        throw refusedInStream(route, reply, value, event.data, true);
      if (!parsed.ok) throw problem('broken-stream', 'an event is not JSON');
      yield value;
    }
    return false;
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
  for (const bytes of opening) if (yield* values(eventsOf(bytes))) return;
  for await (const bytes of chunks) if (yield* values(eventsOf(bytes))) return;
  if (answerEnded()) return;
  if (yield* values(decoder.end())) return;
  if (answerEnded()) return;
  throw events === 0 && opening.length > 0
    ? problem('nonsense', 'the answer is no event stream')
    : problem('broken-stream', 'the stream ended without its end mark');
}

/** The bytes of a stream until it ends; once the answer has ended, however the rest goes is of no interest. */
async function* readChunks(
  route: RouteName,
  reply: OpenReply,
  answerEnded: () => boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxBytes } = ROUTES[route];
  let size = 0;
  for (;;) {
    let bytes: Uint8Array | undefined;
    try {
      bytes = await reply.nextBytes(answerEnded() ? 'linger' : 'stall');
    } catch (error) {
      if (reply.deadline.ended === 'aborted') throw endedBy(route, reply.deadline) ?? error;
      if (answerEnded()) return;
      const stalled = reply.deadline.ended === 'timeout';
      throw failed(route, {
        code: stalled ? 'stalled' : 'broken-stream',
        explanation: stalled ? 'nothing came for too long' : 'the connection broke off',
        status: reply.status,
        cause: error,
      });
    }
    if (bytes === undefined) return;
    size += bytes.byteLength;
    if (size > maxBytes) {
      throw failed(route, {
        code: 'broken-stream',
        explanation: `the stream is longer than ${maxBytes} bytes`,
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

async function allOf(opening: Uint8Array[], chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all = [...opening];
  for await (const bytes of chunks) all.push(bytes);
  return all;
}

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function refusedInStream(
  route: RouteName,
  reply: OpenReply,
  value: unknown,
  text: string,
  midStream: boolean,
): GatewayError {
  return refused(route, { status: reply.status, refusal: readRefusal(value), text, midStream }, reply.redact);
}
