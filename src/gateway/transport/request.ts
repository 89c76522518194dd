import { z } from 'zod';
import { backoff, retryAfterOf } from '../../core/util/backoff.ts';
import { type GatewayFamily, type GatewayRoute, ROUTES, type RouteName } from '../routes.ts';
import { type FetchedResponse, giveUp, readBodyText } from './body.ts';
import { ABORTED, type Deadline, endedBy, startDeadline } from './deadline.ts';
import { failed, GatewayError, type GatewayErrorCode, invalid, transportFailed } from './errors.ts';
import { parseJson } from './json.ts';
import { redactor } from './redact.ts';
import { isRefusal, type Refusal, readRefusal } from './refusal-body.ts';
import { isWebPage, refused } from './refusals.ts';

/** Longest times in milliseconds; past them a call fails with `timeout` or `stalled`. */
interface Timeouts {
  /** Reading something: models, video task. */
  quickMs: number;
  /** Handing over work that is done later. */
  submitMs: number;
  /** Waiting for work that is in the response: a whole answer, a picture. */
  answerMs: number;
  /** A stream's silence. Keep-alive comments count as life. */
  stallMs: number;
  /** A whole stream, however lively. */
  streamMs: number;
  /** After the answer's end was seen in a stream, before its connection is given up. Only more of the answer prolongs it. */
  lingerMs: number;
}

const DEFAULT_TIMEOUTS = {
  quickMs: 15_000,
  submitMs: 60_000,
  answerMs: 300_000,
  stallMs: 90_000,
  streamMs: 900_000,
  lingerMs: 3_000,
} as const satisfies Timeouts;

/** The part of `fetch` that the gateway uses; Node's own and undici's both fit. */
type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    signal: AbortSignal;
    redirect: 'manual';
  },
) => Promise<FetchedResponse>;

/** A request that was answered, or failed. */
export interface FinishedRequest {
  readonly route: RouteName;
  /** Of the answer; undefined where there was none. */
  readonly status: number | undefined;
  readonly code: 'ok' | GatewayErrorCode;
  /** Until the answer, or its first byte where it is streamed. */
  readonly milliseconds: number;
  /** From 1. */
  readonly tries: number;
}

export interface GatewayOptions {
  /** Called with each request that ended. */
  readonly onRequest?: (request: FinishedRequest) => void;
  /** With or without a trailing slash; may hold a path. */
  baseUrl: string;
  apiKey: string;
  fetch: Fetch;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that is never set, for how long something takes. */
  elapsed(): number;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Resolves after `ms`, or when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  timeouts?: Partial<Timeouts>;
  log?: { warn(facts: object, message: string): void };
}

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
  /** Undefined at the end. Throws GatewayError: `aborted`, `stalled` when nothing comes for too long, or `broken-stream`. */
  nextBytes(): Promise<Uint8Array | undefined>;
  /** From now on only some seconds are waited in all, however lively the stream is. */
  linger(): void;
  /** An error for a refusal in the body; `midStream`: after a part of the answer, so work was done. */
  refused(body: unknown, text: string, midStream: boolean): GatewayError;
  failed(code: GatewayErrorCode, explanation: string): GatewayError;
  close(): void;
}

export interface Requester {
  call(name: RouteName, input: RequestInput): Promise<Reply>;
  open(name: RouteName, input: RequestInput): Promise<OpenReply>;
}

/** Error bodies are read up to here, in bytes. */
const LONGEST_REFUSAL = 64 * 1024;
/** Neither JSON that broke off, nor a web page. */
const PLAIN = /^\s*[^\s<{["]/;

export function createRequester(options: GatewayOptions): Requester {
  const { baseUrl, apiKey } = checkedOptions(options);
  const { elapsed } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const limits = { quick: timeouts.quickMs, submit: timeouts.submitMs, answer: timeouts.answerMs } as const;

  async function send(name: RouteName, input: RequestInput, deadline: Deadline): Promise<FetchedResponse> {
    const { method, family, path }: GatewayRoute = ROUTES[name];
    if (deadline.ended() !== undefined)
      throw failed(name, {
        code: 'aborted',
        neverSent: true,
        explanation: 'aborted before the request was sent',
      });
    const url = `${baseUrl}${fillPath(name, path, input)}`;
    const body = input.body === undefined ? {} : { body: JSON.stringify(input.body) };
    try {
      return await options.fetch(url, {
        method,
        headers: { ...headersFor(family, apiKey), ...(method === 'POST' ? JSON_BODY : {}) },
        ...body,
        signal: deadline.signal,
        // A redirect would carry the key to another host, and send paid work twice.
        redirect: 'manual',
      });
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
      const refusedWith = (refusal: Refusal, text: string, midStream = false) =>
        refused(name, { status, refusal, retryAfterMs, text, midStream }, redact);
      return { response, status, isGood: status >= 200 && status < 300, deadline, refusedWith };
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  async function attemptCall(name: RouteName, input: RequestInput): Promise<Reply> {
    const { maxBytes }: GatewayRoute = ROUTES[name];
    const { response, status, isGood, deadline, refusedWith } = await begin(name, input);
    try {
      const { text, tooLong, failure } = await readBodyText(
        response.body,
        isGood ? maxBytes : LONGEST_REFUSAL,
      );
      const value = parseJson(text) ?? (input.plainText && isGood && PLAIN.test(text) ? text : undefined);
      if (!isGood && input.isAnswer?.(value) !== true) throw refusedWith(readRefusal(value), text);
      if (failure !== undefined) throw endedBy(name, deadline) ?? transportFailed(name, failure);
      const unusable = (explanation: string) =>
        failed(name, { code: isWebPage(text) ? 'no-api' : 'nonsense', explanation, status });
      if (tooLong) throw unusable(`the response is longer than ${maxBytes} bytes`);
      if (value === undefined && text.trim() !== '') throw unusable('the response is not JSON');
      if ((input.isRefusal ?? isRefusal)(value)) throw refusedWith(readRefusal(value), text);
      return { status, value, unusable, refused: (refusal) => refusedWith(refusal, text) };
    } finally {
      deadline.release();
    }
  }

  async function attemptOpen(name: RouteName, input: RequestInput): Promise<OpenReply> {
    const { response, status, isGood, deadline, refusedWith } = await begin(name, input);
    if (!isGood) {
      const { text } = await readBodyText(response.body, LONGEST_REFUSAL);
      deadline.release();
      throw refusedWith(readRefusal(parseJson(text)), text);
    }
    deadline.disarm();
    const reader = response.body?.getReader();
    const overAt = elapsed() + timeouts.streamMs;
    let patience = Number.POSITIVE_INFINITY;
    const broken = (cause: unknown): GatewayError => {
      const ended = deadline.ended();
      if (ended === 'aborted') return failed(name, { code: 'aborted', explanation: ABORTED });
      return ended === 'timeout'
        ? failed(name, { code: 'stalled', explanation: 'no data arrived in time', status, cause })
        : failed(name, { code: 'broken-stream', explanation: 'the connection was lost', status, cause });
    };
    return {
      status,
      linger() {
        patience = timeouts.lingerMs;
      },
      async nextBytes() {
        const began = elapsed();
        deadline.arm(Math.max(0, Math.min(timeouts.stallMs, patience, overAt - began)));
        try {
          return (await reader?.read())?.value;
        } catch (error) {
          throw broken(error);
        } finally {
          // The gateway's silence is timed, not the time that the reader of the stream takes.
          deadline.disarm();
          patience -= elapsed() - began;
        }
      },
      refused: (body, text, midStream) => refusedWith(readRefusal(body), text, midStream),
      failed: (code, explanation) => failed(name, { code, explanation, status }),
      close() {
        deadline.release();
        if (reader) giveUp(reader);
      },
    };
  }

  /** One try, reported. */
  async function watched<R extends { readonly status: number }>(
    route: RouteName,
    tries: number,
    attempt: () => Promise<R>,
  ): Promise<R> {
    const began = elapsed();
    const report = (status: number | undefined, code: FinishedRequest['code']) =>
      options.onRequest?.({ route, status, code, milliseconds: elapsed() - began, tries });
    try {
      const reply = await attempt();
      report(reply.status, 'ok');
      return reply;
    } catch (error) {
      if (error instanceof GatewayError) report(error.status, error.code);
      throw error;
    }
  }

  /**
   * Reads are sent again after a failure that may pass, within the budget and after Retry-After. Paid work is sent once:
   * its job decides about another try, where people see it and no crash forgets it.
   */
  async function call(route: RouteName, input: RequestInput): Promise<Reply> {
    const deadline = elapsed() + BUDGET_MS;
    for (let tries = 1; ; tries++) {
      try {
        return await watched(route, tries, () => attemptCall(route, input));
      } catch (error) {
        if (!(error instanceof GatewayError) || !worthAnotherTry(error) || tries >= MOST_TRIES) throw error;
        const own = backoff({ ...PAUSES, attempt: tries, random: options.random });
        const wait = Math.ceil(Math.max(own, error.retryAfterMs ?? 0));
        if (elapsed() + wait > deadline) throw error;
        await options.sleep(wait, input.signal);
        if (input.signal?.aborted === true)
          throw failed(route, { code: 'aborted', explanation: ABORTED, cause: error });
      }
    }
  }

  return { call, open: (route, input) => watched(route, 1, () => attemptOpen(route, input)) };
}

const MOST_TRIES = 4;
/** From the first try on; no try starts later than this. */
const BUDGET_MS = 20_000;
/** As the vendors' own clients: half a second, doubling to eight (@anthropic-ai/sdk client.ts). */
const PAUSES = { firstMs: 500, longestMs: 8_000 } as const;

function worthAnotherTry({ retryable, retryAfterMs, code, route }: GatewayError): boolean {
  return retryable && ROUTES[route].kind === 'read' && (code !== 'maintenance' || retryAfterMs !== undefined);
}

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
    throw new TypeError('the gateway base URL must be an http or https URL without a query');
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('the gateway API key must contain only visible ASCII characters');
  return { baseUrl: baseUrl.trim().replace(/(?<!\/)\/+$/, ''), apiKey };
}

function fillPath(name: RouteName, path: string, { path: values = {}, query = {} }: RequestInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const segments = (values[key] ?? '').split('/');
    // "." and ".." would be taken for directories, and lead to another route.
    if (segments.some((segment) => segment.trim() === '' || /^\.{1,2}$/.test(segment))) {
      throw invalid(name, `${key} cannot be used in a path`);
    }
    return segments.map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}${filled.includes('?') ? '&' : '?'}${search}`;
}

/** A request as its schema lets it through: only named fields, nothing undefined; anything else is `invalid`. */
export function checked<T extends object>(name: RouteName, schema: z.ZodType<T>, request: T): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalid(name, z.prettifyError(result.error));
}
