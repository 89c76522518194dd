import { z } from 'zod';
import { retryAfterOf } from '../../core/backoff.ts';
import { type GatewayFamily, type GatewayRoute, ROUTES, type RouteName } from '../routes.ts';
import {
  failed,
  type GatewayError,
  invalid,
  isWebPage,
  type Redact,
  redactor,
  refused,
  transportFailed,
} from './errors.ts';
import { parseJson } from './json.ts';
import { DEFAULT_TIMEOUTS, type FetchedResponse, type GatewayOptions } from './options.ts';
import { isRefusal, type Refusal, readRefusal } from './refusal.ts';
import { type Deadline, endedBy, startDeadline, watchedTries } from './retry.ts';

export interface RequestInput {
  /** Values for the path's `{names}`. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  signal?: AbortSignal | undefined;
  /** Whether a good response's body refuses; given where a route's answers resemble refusals. */
  isRefusal?: (value: unknown) => boolean;
  /** Whether the body of an error status is an answer all the same. */
  isAnswer?: (value: unknown) => boolean;
  /** A good answer may be plain text, which is then the value. */
  plainText?: boolean;
}

/** A good answer. */
export interface Reply {
  status: number;
  /** The body's JSON; undefined for an empty body. */
  value: unknown;
  /** An error for an answer that holds nothing usable. */
  unusable(explanation: string): GatewayError;
  /** An error for an answer that turns out to be a refusal. */
  refused(refusal: Refusal): GatewayError;
}

/** A good answer whose body is read piece by piece. Must be closed. */
export interface OpenReply {
  status: number;
  /** Undefined at the end. Rejects when the connection breaks, the caller aborts, or nothing comes for too long. */
  nextBytes(): Promise<Uint8Array | undefined>;
  /** From now on only some seconds are waited in all, however lively the stream is. */
  linger(): void;
  deadline: Deadline;
  redact: Redact;
  close(): void;
}

export interface Requester {
  call(name: RouteName, input: RequestInput): Promise<Reply>;
  open(name: RouteName, input: RequestInput): Promise<OpenReply>;
}

/** Streams that are open at once add this to the time between two reads of each: a read costs the same, however much it brings. */
const READ_INTERVAL_PER_STREAM_MS = 5;
const LONGEST_READ_INTERVAL_MS = 250;
/** With fewer streams, every word is read as it comes. */
const FEW_STREAMS = 5;

/** Error bodies are read up to here, in bytes. */
const LONGEST_REFUSAL = 64 * 1024;

export function createRequester(options: GatewayOptions): Requester {
  const { baseUrl, apiKey } = checkedOptions(options);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const limits = { quick: timeouts.quickMs, submit: timeouts.submitMs, answer: timeouts.answerMs } as const;

  let streams = 0;
  const readInterval = (): number =>
    streams < FEW_STREAMS ? 0 : Math.min(streams * READ_INTERVAL_PER_STREAM_MS, LONGEST_READ_INTERVAL_MS);

  async function send(name: RouteName, input: RequestInput, deadline: Deadline): Promise<FetchedResponse> {
    const { method, family, path }: GatewayRoute = ROUTES[name];
    if (deadline.ended !== undefined) {
      throw failed(name, { code: 'aborted', neverSent: true, explanation: 'aborted before it was sent' });
    }
    const url = `${baseUrl}${fillPath(name, path, input)}`;
    const body = input.body === undefined ? {} : { body: serialised(name, input.body) };
    try {
      return await deadline.race(
        options.fetch(url, {
          method,
          headers: { ...headersFor(family, apiKey), ...(method === 'POST' ? JSON_BODY : {}) },
          ...body,
          signal: deadline.signal,
          // A redirect would carry the key to another host, and send paid work twice.
          redirect: 'manual',
        }),
      );
    } catch (error) {
      throw endedBy(name, deadline) ?? transportFailed(name, error);
    }
  }

  /** Sends a request and waits for its status. The deadline must be released unless this throws. */
  async function begin(name: RouteName, input: RequestInput) {
    const redact = redactor(apiKey, input.body);
    const deadline = startDeadline(limits[ROUTES[name].limit], input.signal);
    try {
      const response = await send(name, input, deadline);
      const { status } = response;
      const retryAfterMs = retryAfterOf(response.headers, options.now());
      const refusedWith = (refusal: Refusal, text: string) =>
        refused(name, { status, refusal, retryAfterMs, text }, redact);
      return { response, status, isGood: status >= 200 && status < 300, deadline, redact, refusedWith };
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  async function attemptCall(name: RouteName, input: RequestInput): Promise<Reply> {
    const { maxBytes }: GatewayRoute = ROUTES[name];
    const { response, status, isGood, deadline, refusedWith } = await begin(name, input);
    try {
      const bound = isGood ? maxBytes : LONGEST_REFUSAL;
      const { text, tooLong, failure } = await readBody(response.body, bound, deadline);
      const value = parseJson(text) ?? (input.plainText && isGood && PLAIN.test(text) ? text : undefined);
      if (!isGood && input.isAnswer?.(value) !== true) throw refusedWith(readRefusal(value), text);
      if (failure !== undefined) throw endedBy(name, deadline) ?? transportFailed(name, failure);
      const unusable = (explanation: string) =>
        failed(name, {
          code: isWebPage(text) ? 'no-api' : 'nonsense',
          explanation,
          status,
        });
      if (tooLong) throw unusable(`the answer is longer than ${maxBytes} bytes`);
      if (value === undefined && text.trim() !== '') throw unusable('the answer is not JSON');
      if ((input.isRefusal ?? isRefusal)(value)) throw refusedWith(readRefusal(value), text);
      return { status, value, unusable, refused: (refusal) => refusedWith(refusal, text) };
    } finally {
      deadline.release();
    }
  }

  async function attemptOpen(name: RouteName, input: RequestInput): Promise<OpenReply> {
    const { response, status, isGood, deadline, redact, refusedWith } = await begin(name, input);
    if (!isGood) {
      const { text } = await readBody(response.body, LONGEST_REFUSAL, deadline);
      deadline.release();
      throw refusedWith(readRefusal(parseJson(text)), text);
    }
    const reader = response.body?.getReader();
    deadline.disarm();
    const { elapsed = options.now } = options;
    const overAt = elapsed() + timeouts.streamMs;
    let patience = Number.POSITIVE_INFINITY;
    let readAt = Number.NEGATIVE_INFINITY;
    let isOpen = true;
    streams += 1;
    return {
      status,
      deadline,
      redact,
      linger() {
        patience = timeouts.lingerMs;
      },
      async nextBytes() {
        if (reader === undefined) return undefined;
        const began = elapsed();
        const pause = readAt + readInterval() - began;
        if (pause > 0) await deadline.race(options.sleep(pause, deadline.signal));
        readAt = elapsed();
        deadline.arm(Math.max(0, Math.min(timeouts.stallMs, patience, overAt - readAt)));
        try {
          const { done, value } = await deadline.race(reader.read());
          return done ? undefined : value;
        } finally {
          // The gateway's silence is timed, not the time that the reader of the stream takes.
          deadline.disarm();
          patience -= elapsed() - began;
        }
      },
      close() {
        deadline.release();
        if (isOpen) streams -= 1;
        isOpen = false;
        if (reader !== undefined) giveUp(reader);
      },
    };
  }

  const tried = watchedTries(options);
  return {
    call: (name, input) => tried(name, input.signal, () => attemptCall(name, input)),
    open: (name, input) => tried(name, input.signal, () => attemptOpen(name, input)),
  };
}

/** Neither JSON that broke off, nor a web page. */
const PLAIN = /^\s*[^\s<{["]/;

const JSON_BODY = { 'content-type': 'application/json' } as const;

/** Contract, "Authentication": the family alone decides, so that no route can be given another's headers. */
function headersFor(family: GatewayFamily, apiKey: string): Record<string, string> {
  switch (family) {
    case 'music':
    case 'media':
    case 'chat':
    case 'gen':
      return { authorization: `Bearer ${apiKey}` };
    case 'msg':
      return { 'x-api-key': apiKey, 'vendor-version': '2023-06-01', ...JSON_BODY };
    default:
      return family satisfies never;
  }
}

function checkedOptions({ baseUrl, apiKey }: GatewayOptions): { baseUrl: string; apiKey: string } {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new TypeError('the gateway base URL must be an http or https address without query');
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('the gateway API key must be visible ASCII');
  return { baseUrl: baseUrl.trim().replace(/\/+$/, ''), apiKey };
}

function fillPath(name: RouteName, path: string, { path: values = {}, query = {} }: RequestInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const segments = (values[key] ?? '').split('/');
    // "." and ".." would be taken for directories, and lead to another route.
    if (segments.some((segment) => segment.trim() === '' || /^\.{1,2}$/.test(segment))) {
      throw invalid(name, `${key} cannot be part of a path`);
    }
    return segments.map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}${filled.includes('?') ? '&' : '?'}${search}`;
}

function serialised(name: RouteName, body: object): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw failed(name, {
      code: 'invalid',
      neverSent: true,
      explanation: 'the request is not JSON',
      cause: error,
    });
  }
}

interface BodyText {
  text: string;
  /** Longer than the bound: `text` is its beginning. */
  tooLong: boolean;
  /** The body broke off: `text` is its beginning. */
  failure?: unknown;
}

/** Reads a body up to a bound in bytes, and gives the rest up. Never throws. */
async function readBody(
  body: FetchedResponse['body'],
  maxBytes: number,
  deadline: Deadline,
): Promise<BodyText> {
  if (body === null) return { text: '', tooLong: false };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const soFar = () => new TextDecoder().decode(Buffer.concat(chunks));
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await deadline.race(reader.read());
      if (done || value === undefined) return { text: soFar(), tooLong: false };
      const left = maxBytes - size;
      if (value.byteLength > left) {
        chunks.push(value.subarray(0, left));
        giveUp(reader);
        return { text: soFar(), tooLong: true };
      }
      size += value.byteLength;
      chunks.push(value);
    }
  } catch (failure) {
    giveUp(reader);
    return { text: soFar(), tooLong: false, failure };
  }
}

/** Frees the connection, even if that fails. */
function giveUp(reader: { cancel(): Promise<void> }): void {
  reader.cancel().catch(() => undefined);
}

/** A request as its schema lets it through: only named fields, nothing undefined; anything else is `invalid`. */
export function checked<T extends object>(name: RouteName, schema: z.ZodType<T>, request: T): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalid(name, z.prettifyError(result.error));
}
