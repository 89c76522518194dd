import {
  type Answer,
  type AnswerEvent,
  type AnswerPart,
  type AnswerSoFar,
  answerSchema,
  type Finish,
  type Usage,
} from '../answers.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { failed, GatewayError, isWebPage, keptBody, refused } from './errors.ts';
import { parseJson, usable, withoutUndefined } from './json.ts';
import { isRefusal, readRefusal } from './refusal.ts';
import { endedBy, type OpenReply, type Reply, type Requester, type RequestInput } from './request.ts';
import { createEventDecoder, EventTooLongError, type ServerSentEvent } from './sse.ts';

/** Reads one dialect's answers. Made anew for every answer, so it may keep state. */
export interface PieceReader {
  /** Whether an event's data is the stream's end mark. */
  isEnd(data: string): boolean;
  /** A stream's chunk, or a whole answer. Total: garbage reads as an empty piece. */
  read(value: unknown): AnswerPiece;
  /** What was only complete at the end. */
  end(): AnswerPart[];
}

/** What one chunk of a stream, or a whole body, adds to an answer. */
export interface AnswerPiece {
  parts: AnswerPart[];
  finish?: Finish | undefined;
  usage?: Usage | undefined;
  model?: string | undefined;
}

/** Puts an answer together from its pieces, in order. */
function createAnswerCollector() {
  const parts: AnswerPart[] = [];
  const held = { text: '', thought: '' };
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let model: string | undefined;
  let hasGoneOn = false;

  /** The part without half a character at its end, which is held back until the other half comes. */
  const whole = (part: AnswerPart): AnswerPart | undefined => {
    if (part.type !== 'text' && part.type !== 'thought') return part;
    const text = held[part.type] + part.text;
    // JSON may carry the halves of one character ("\ud83d" and "\ude00") in two chunks.
    const cut = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    held[part.type] = text.slice(cut);
    const complete = text.slice(0, cut).toWellFormed();
    return complete === '' ? undefined : { type: part.type, text: complete };
  };
  /** Neighbouring fragments of text become one part. */
  const keep = (passed: AnswerPart[]): AnswerPart[] => {
    for (const part of passed) {
      const last = parts.at(-1);
      if (last !== undefined && 'text' in last && 'text' in part && last.type === part.type)
        last.text += part.text;
      else parts.push({ ...part });
    }
    return passed;
  };

  return {
    /** Takes a piece in and returns the parts to pass on: text never ends within a character. */
    add: (piece: AnswerPiece): AnswerPart[] => {
      if (piece.finish !== undefined) finish = piece.finish;
      else if (piece.parts.length > 0) hasGoneOn = true;
      if (piece.usage !== undefined) usage = { ...usage, ...piece.usage };
      model ??= piece.model;
      return keep(piece.parts.flatMap((part) => whole(part) ?? []));
    },
    /** What was held back because its second half never came. */
    flush: (): AnswerPart[] => {
      const halves = (['thought', 'text'] as const).filter((type) => held[type] !== '');
      for (const type of halves) held[type] = '';
      return keep(halves.map((type) => ({ type, text: '\ufffd' })));
    },
    hasFinished: () => finish !== undefined,
    /** Some gateways name `stop` in every chunk: there it is the end only where the stream ends by itself. */
    hasSurelyFinished: () => finish !== undefined && (hasGoneOn || finish.reason !== 'stop'),
    soFar: (): AnswerSoFar => withoutUndefined({ parts, usage, model }),
    /** The finish; undefined for an answer that holds nothing and does not say why. */
    end: (): Finish | undefined => {
      const { reason, detail } = finish ?? { reason: 'other' };
      const empty = parts.every((part) => part.type === 'thought');
      const explained = reason === 'blocked' || reason === 'refused' || reason === 'length';
      return empty && !explained ? undefined : withoutUndefined({ reason, detail });
    },
  };
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
    for await (const value of readValues(route, reply, reader, collector)) {
      for (const part of collector.add(reader.read(value))) yield { type: 'part', part };
    }
    for (const part of [...collector.flush(), ...collector.add({ parts: reader.end() })])
      yield { type: 'part', part };
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

type Progress = Pick<ReturnType<typeof createAnswerCollector>, 'hasFinished' | 'hasSurelyFinished'>;

/** The JSON values of a stream, until it has finished; throws when it does not finish. */
async function* readValues(
  route: RouteName,
  reply: OpenReply,
  reader: PieceReader,
  progress: Progress,
): AsyncGenerator<unknown, void, undefined> {
  const chunks = readChunks(route, reply, progress);
  const opening = await readOpening(chunks);
  const refusedWith = (value: unknown, text: string, midStream: boolean) =>
    refused(route, { status: reply.status, refusal: readRefusal(value), text, midStream }, reply.redact);
  const problem = (code: 'broken-stream' | 'nonsense', explanation: string) =>
    failed(route, {
      code: isWebPage(textOf(opening)) ? 'no-api' : code,
      explanation,
      status: reply.status,
      body: keptBody(reply.redact, textOf(opening)),
    });

  if (/^\s*[[{]/.test(textOf(opening))) {
    const parsed = parseJson(textOf([...opening, ...(await Array.fromAsync(chunks))]));
    if (parsed === undefined)
      throw problem('broken-stream', 'the answer is no event stream, and no whole JSON');
    const values: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
    for (const [index, value] of values.slice(0, 10_000).entries()) {
      if (isRefusal(value)) throw refusedWith(value, textOf(opening), index > 0);
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
      const value = parseJson(event.data);
      if (event.name === 'error' || isRefusal(value)) throw refusedWith(value, event.data, true);
      if (value === undefined) throw problem('broken-stream', 'an event is not JSON');
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
  if (progress.hasFinished()) return;
  if (yield* values(decoder.end())) return;
  if (progress.hasFinished()) return;
  throw events === 0 && opening.length > 0
    ? problem('nonsense', 'the answer is no event stream')
    : problem('broken-stream', 'the stream ended without its end mark');
}

/** The bytes of a stream until it ends; once the answer has surely ended, however the rest goes is of no interest. */
async function* readChunks(
  route: RouteName,
  reply: OpenReply,
  { hasFinished, hasSurelyFinished }: Progress,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxBytes } = ROUTES[route];
  let size = 0;
  for (;;) {
    let bytes: Uint8Array | undefined;
    try {
      bytes = await reply.nextBytes(hasSurelyFinished() ? 'linger' : 'stall');
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

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}
