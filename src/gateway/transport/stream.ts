import type { Answer, AnswerEvent, AnswerPart, Finish, Usage } from '../answers.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { GatewayError } from './errors.ts';
import { parseJson } from './json.ts';
import { isRefusal } from './refusal-body.ts';
import { isWebPage } from './refusals.ts';
import type { OpenReply, Reply, Requester, RequestInput } from './request.ts';
import { createEventDecoder, EventTooLongError, type ServerSentEvent } from './sse.ts';

/** What one chunk of a stream, or a whole body, adds to an answer. */
export interface AnswerPiece {
  readonly parts: readonly AnswerPart[];
  readonly finish?: Finish | undefined;
  readonly usage?: Usage | undefined;
}

/** Reads one dialect's answers. Made anew for every answer, so it may keep state. */
export interface AnswerReader {
  /** A stream's chunk, or a whole answer. Total: garbage reads as an empty piece. */
  read(value: unknown): AnswerPiece;
}

/** A whole answer. Throws `nonsense` for one that holds nothing and does not say why. */
export function readAnswer(reply: Reply, reader: AnswerReader): Answer {
  const collector = createCollector();
  // A stream without event framing is a list.
  for (const value of Array.isArray(reply.value) ? reply.value : [reply.value])
    collector.add(reader.read(value));
  collector.close();
  const end = collector.end();
  if (end === undefined) throw reply.unusable('the response is empty');
  return { parts: collector.take(), ...end };
}

/**
 * Streams an answer. Ends with one `finish` event, or throws GatewayError once all that came was given: `broken-stream`
 * (ended or cut without an end mark, or unreadable), `stalled`, `aborted`, or the gateway's own error when the stream
 * carried one. Leaving the loop early ends the request.
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
    collector.close();
    for (const part of collector.take()) yield { type: 'part', part };
    const end = collector.end();
    if (end === undefined) throw reply.failed('nonsense', 'the response is empty');
    yield { type: 'finish', ...end };
  } catch (error) {
    // What came in the same read as the failure.
    for (const part of collector.take()) yield { type: 'part', part };
    throw error;
  } finally {
    reply.close();
  }
}

/** In characters. The reader of a stream may bound its whole length, and checks that after each part. */
const LONGEST_FRAGMENT = 4_096;

/** Puts an answer together from its pieces, in order. */
function createCollector() {
  let passed: AnswerPart[] = [];
  /** Half a character at the end of a text: JSON may carry the halves ("\ud83d" and "\ude00") in two chunks. */
  const held = { text: '', thought: '' };
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let isEmpty = true;
  let partsSeen = 0;
  /** Whether a piece came that named no end. */
  let hasOpenPiece = false;

  const pass = (part: AnswerPart) => {
    isEmpty &&= part.type === 'thought';
    if (part.type !== 'text' && part.type !== 'thought') {
      passed.push(part);
      return;
    }
    const { type } = part;
    const text = held[type] + part.text;
    held[type] = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    append(passed, type, (held[type] === '' ? text : text.slice(0, -1)).toWellFormed());
  };

  return {
    add(piece: AnswerPiece): void {
      if (piece.finish !== undefined) finish = piece.finish;
      else if (piece.parts.length > 0) hasOpenPiece = true;
      if (piece.usage !== undefined) usage = { ...usage, ...piece.usage };
      partsSeen += piece.parts.length;
      for (const part of piece.parts) pass(part);
    },
    /** No more pieces come. */
    close(): void {
      for (const type of ['thought', 'text'] as const) {
        append(passed, type, held[type].toWellFormed());
        held[type] = '';
      }
    },
    /** The parts since the last time, to pass on: text never ends within a character, and neighbouring fragments are one. */
    take(): AnswerPart[] {
      const taken = passed;
      passed = [];
      return taken;
    },
    partsSeen: () => partsSeen,
    hasFinished: () => finish !== undefined,
    /** Some gateways name `stop` in every chunk: there it is the end only where the stream ends by itself. */
    hasSurelyFinished: () => finish !== undefined && (hasOpenPiece || finish.reason !== 'stop'),
    /** Undefined for an answer that holds nothing and does not say why. */
    end(): Omit<Answer, 'parts'> | undefined {
      const known: Finish = finish ?? { reason: 'other' };
      const isExplained = ['blocked', 'refused', 'length', 'tool-calls'].includes(known.reason);
      return isEmpty && !isExplained ? undefined : { finish: known, usage };
    },
  };
}

/** Neighbouring fragments of text become one part, unless that is long already. */
function append(parts: AnswerPart[], type: 'text' | 'thought', text: string): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (last?.type === type && last.text.length < LONGEST_FRAGMENT) last.text += text;
  else parts.push({ type, text });
}

/** Of one event, in characters. Streams carry text, a few words an event. */
const LONGEST_EVENT = 4 * 1024 * 1024;

/** Of events, in bytes: a usual chunk is some 330 bytes for one token, reasoning included. Only their content is kept. */
const LONGEST_STREAM = 64 * 1024 * 1024;

/**
 * Reads a stream into `collector`, until it has finished, and yields after each read of the network. Throws when the
 * stream does not finish. A body without any event may still be a whole answer, or a list of chunks.
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

  /** Whether the stream is over. */
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
      // How the connection of a finished answer ends is of no interest.
      if (!(error instanceof GatewayError) || error.code === 'aborted') throw error;
      if (collector.hasSurelyFinished() || (error.code === 'stalled' && collector.hasFinished()))
        return undefined;
      throw error;
    }
  };

  for (;;) {
    // Keep-alive comments must not hold up a finished answer; what comes after a finish that was none does count.
    if (collector.hasSurelyFinished() && collector.partsSeen() !== partsAtEnd) {
      partsAtEnd = collector.partsSeen();
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
