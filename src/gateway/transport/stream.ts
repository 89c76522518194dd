import type { Answer, AnswerEvent, AnswerPart, Finish, Usage } from '../answers.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { GatewayError } from './errors.ts';
import { parseJson } from './json.ts';
import { isRefusal } from './refusal-body.ts';
import { isWebPage } from './refusals.ts';
import type { OpenReply, Reply, Requester, RequestInput } from './request.ts';
import { createEventDecoder, EventTooLongError, type ServerSentEvent } from './sse.ts';

/** The content of a stream chunk or of a whole body. */
export interface AnswerPiece {
  readonly parts: readonly AnswerPart[];
  readonly finish?: Finish | undefined;
  readonly usage?: Usage | undefined;
}

/** Reads the answers of a dialect. Created for each answer, so it may have state. */
export interface AnswerReader {
  /** Reads a stream chunk or a whole answer. Never throws; invalid input gives an empty piece. */
  read(value: unknown): AnswerPiece;
  /** Returns the parts that were held back until the end. */
  end?(): readonly AnswerPart[];
}

/** Reads a whole answer. Throws `nonsense` if it is empty without a reason. */
export function readAnswer(reply: Reply, reader: AnswerReader): Answer {
  const collector = createCollector();
  // A stream without event framing arrives as a list.
  for (const value of Array.isArray(reply.value) ? reply.value : [reply.value])
    collector.add(reader.read(value));
  collector.close(reader);
  const end = collector.end();
  if (end === undefined) throw reply.unusable('the response is empty');
  return { parts: collector.take(), ...end };
}

/**
 * Streams an answer. Ends with one `finish` event, or throws GatewayError after the parts that arrived: `broken-stream`
 * (incomplete or unreadable), `stalled`, `aborted`, or an error that the stream contained. Leaving the loop early ends the
 * request.
 */
export async function* streamAnswer(
  requester: Requester,
  route: RouteName,
  input: () => RequestInput,
  createReader: () => AnswerReader,
): AsyncGenerator<AnswerEvent, void, undefined> {
  const reply = await requester.open(route, input());
  const collector = createCollector();
  const reader = createReader();
  try {
    for await (const _ of readPieces(route, reply, reader, collector))
      for (const part of collector.take()) yield { type: 'part', part };
    collector.close(reader);
    for (const part of collector.take()) yield { type: 'part', part };
    const end = collector.end();
    if (end === undefined) throw reply.failed('nonsense', 'the response is empty');
    yield { type: 'finish', ...end };
  } catch (error) {
    // Parts that arrived in the same read as the failure, or were held back.
    collector.close(reader);
    for (const part of collector.take()) yield { type: 'part', part };
    throw error;
  } finally {
    reply.close();
  }
}

/** In characters. Consumers check the total length after each part. */
const LONGEST_FRAGMENT = 4_096;

/** Assembles an answer from its pieces. */
function createCollector() {
  let parts: AnswerPart[] = [];
  /** Half a surrogate pair at the end of a text. JSON may have the halves ("\ud83d" and "\ude00") in two chunks. */
  const pendingHalves = { text: '', thought: '' };
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let isEmpty = true;
  let partCount = 0;
  /** True if a piece had no finish reason. */
  let hasOpenPiece = false;

  const addPart = (part: AnswerPart) => {
    isEmpty &&= part.type === 'thought';
    if (part.type !== 'text' && part.type !== 'thought') {
      parts.push(part);
      return;
    }
    const { type } = part;
    const text = pendingHalves[type] + part.text;
    pendingHalves[type] = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    append(parts, type, (pendingHalves[type] === '' ? text : text.slice(0, -1)).toWellFormed());
  };

  return {
    add(piece: AnswerPiece): void {
      if (piece.finish !== undefined) finish = piece.finish;
      else if (piece.parts.length > 0) hasOpenPiece = true;
      if (piece.usage !== undefined) usage = { ...usage, ...piece.usage };
      partCount += piece.parts.length;
      for (const part of piece.parts) addPart(part);
    },
    /** Called after the last piece. */
    close({ end }: AnswerReader): void {
      for (const part of end?.() ?? []) addPart(part);
      for (const type of ['thought', 'text'] as const) {
        append(parts, type, pendingHalves[type].toWellFormed());
        pendingHalves[type] = '';
      }
    },
    /** Returns the parts since the last call. Text never ends within a character; adjacent fragments are merged. */
    take(): AnswerPart[] {
      const taken = parts;
      parts = [];
      return taken;
    },
    partCount: () => partCount,
    hasFinished: () => finish !== undefined,
    /** Some gateways send `stop` in every chunk. There, only the end of the stream ends the answer. */
    hasSurelyFinished: () => finish !== undefined && (hasOpenPiece || finish.reason !== 'stop'),
    /** Returns undefined for an answer that is empty without a reason. */
    end(): Omit<Answer, 'parts'> | undefined {
      const knownFinish: Finish = finish ?? { reason: 'other' };
      const { reason, detail } = knownFinish;
      const isExplained = reason !== 'stop' && (reason !== 'other' || detail !== undefined);
      return isEmpty && !isExplained ? undefined : { finish: knownFinish, usage };
    },
  };
}

/** Merges adjacent fragments into one part, unless that is long already. */
function append(parts: AnswerPart[], type: 'text' | 'thought', text: string): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (last?.type === type && last.text.length < LONGEST_FRAGMENT) last.text += text;
  else parts.push({ type, text });
}

/** In characters. Usual events contain a few words. */
const LONGEST_EVENT = 4 * 1024 * 1024;

/** In bytes. A usual chunk takes 330 bytes for one token, and only its content stays in memory. */
const LONGEST_STREAM = 64 * 1024 * 1024;

/**
 * Reads a stream into `collector` and yields after each network read. Throws if the stream ends early. A body without
 * events may be a whole answer or a list of chunks.
 */
async function* readPieces(
  route: RouteName,
  reply: OpenReply,
  reader: AnswerReader,
  collector: ReturnType<typeof createCollector>,
): AsyncGenerator<void, void, undefined> {
  const decoder = createEventDecoder(LONGEST_EVENT);
  const opening: Uint8Array[] = [];
  let bytesRead = 0;
  let events = 0;
  let partsAtEnd: number | undefined;

  /** Returns true if the stream is over. */
  const take = ({ name, data }: ServerSentEvent): boolean => {
    if (data.startsWith('[DONE]')) return true;
    if (data.trim() === '') return false;
    events += 1;
    const value = parseJson(data);
    if (name === 'error' || isRefusal(value)) throw reply.refused(value, data, true);
    if (value === undefined) throw reply.failed('broken-stream', 'an event is not JSON');
    collector.add(reader.read(value));
    return false;
  };
  const decode = (read: () => ServerSentEvent[]): boolean => {
    try {
      return read().some(take);
    } catch (error) {
      throw error instanceof EventTooLongError ? reply.failed('broken-stream', error.message) : error;
    }
  };
  const nextBytes = async () => {
    try {
      return await reply.nextBytes();
    } catch (error) {
      // Once the answer has finished, connection errors don't matter.
      if (!(error instanceof GatewayError) || error.code === 'aborted') throw error;
      if (collector.hasSurelyFinished() || (error.code === 'stalled' && collector.hasFinished()))
        return undefined;
      throw error;
    }
  };

  for (;;) {
    // Keep-alive comments must not delay a finished answer. More parts after the finish reason extend the wait.
    if (collector.hasSurelyFinished() && collector.partCount() !== partsAtEnd) {
      partsAtEnd = collector.partCount();
      reply.linger();
    }
    const bytes = await nextBytes();
    if (bytes === undefined) break;
    bytesRead += bytes.byteLength;
    const bound = events === 0 ? ROUTES[route].maxBytes : LONGEST_STREAM;
    if (bytesRead > bound) throw reply.failed('broken-stream', `the stream is longer than ${bound} bytes`);
    if (events === 0) opening.push(bytes);
    if (decode(() => decoder.push(bytes))) return;
    yield;
  }
  if (collector.hasFinished() || decode(decoder.end) || collector.hasFinished()) return;
  if (events > 0) throw reply.failed('broken-stream', 'the stream ended without an end marker');

  const text = new TextDecoder().decode(Buffer.concat(opening));
  const body = parseJson(text);
  if (body === undefined)
    throw reply.failed(
      isWebPage(text) ? 'no-api' : 'broken-stream',
      'the response is neither an event stream nor JSON',
    );
  for (const [index, value] of (Array.isArray(body) ? body : [body]).entries()) {
    if (isRefusal(value)) throw reply.refused(value, text, index > 0);
    collector.add(reader.read(value));
    yield;
  }
}
