import { z } from 'zod';
import { giveUp, readBody } from './body.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import type { GatewayError } from './errors.ts';
import { failed, invalid, refused, transportFailed } from './failures.ts';
import { type ParsedJson, parseJson } from './json.ts';
import { DEFAULT_TIMEOUTS, type FetchedResponse, type GatewayOptions } from './options.ts';
import { keptBody, type Redact, redactor } from './redact.ts';
import { isRefusal, type Refusal, readRefusal } from './refusal.ts';
import { retryAfterOf, withRetries } from './retry.ts';
import { type GatewayFamily, ROUTES, type Route, type RouteName } from './routes.ts';

export interface RequestInput {
  /** Values for the path's `{names}`. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  signal?: AbortSignal | undefined;
  /** Tells a refusal in a good answer's body from an answer, where a route's answers look like refusals. */
  isRefusal?: (value: unknown) => boolean;
}

/** A good answer. */
export interface Reply {
  status: number;
  /** The body's JSON; undefined for an empty body. */
  value: unknown;
  /** An error for an answer that holds nothing usable; it keeps the raw body. */
  unusable(explanation: string): GatewayError;
  /** An error for an answer that turns out to be a refusal. */
  refused(refusal: Refusal): GatewayError;
}

/** A good answer whose body is read piece by piece. Must be closed. */
export interface OpenReply {
  status: number;
  /** Undefined at the end. Rejects when the connection breaks, the caller aborts, or nothing comes for too long. */
  nextBytes(patience: 'stall' | 'linger'): Promise<Uint8Array | undefined>;
  deadline: Deadline;
  redact: Redact;
  close(): void;
}

export interface Requester {
  call(name: RouteName, input: RequestInput): Promise<Reply>;
  open(name: RouteName, input: RequestInput): Promise<OpenReply>;
}

/** Error bodies are read up to here, in bytes. */
const LONGEST_REFUSAL = 64 * 1024;

export function createRequester(options: GatewayOptions): Requester {
  const { baseUrl, apiKey } = checkedOptions(options);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const limits = { quick: timeouts.quickMs, submit: timeouts.submitMs, answer: timeouts.answerMs } as const;

  async function send(name: RouteName, input: RequestInput, deadline: Deadline): Promise<FetchedResponse> {
    const { method, family, path }: Route = ROUTES[name];
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

  async function refuse(name: RouteName, response: FetchedResponse, deadline: Deadline, redact: Redact) {
    const { text } = await readBody(response.body, LONGEST_REFUSAL, deadline);
    const parsed = parseJson(text);
    return refused(
      name,
      {
        status: response.status,
        refusal: parsed.ok ? readRefusal(parsed.value) : { names: [] },
        retryAfterMs: retryAfterOf(response.headers, options.now()),
        text,
      },
      redact,
    );
  }

  async function attemptCall(name: RouteName, input: RequestInput): Promise<Reply> {
    const route: Route = ROUTES[name];
    const redact = redactor(apiKey, input.body);
    const deadline = startDeadline(limits[route.pace], input.signal);
    try {
      const response = await send(name, input, deadline);
      const { status } = response;
      if (!isGood(status)) throw await refuse(name, response, deadline, redact);
      const body = await readBody(response.body, route.maxBytes, deadline);
      if (body.failure !== undefined) throw endedBy(name, deadline) ?? transportFailed(name, body.failure);

      const unusable = (explanation: string) =>
        failed(name, { code: 'nonsense', explanation, status, body: keptBody(redact, body.text) });
      if (body.tooLong) throw unusable(`the answer is longer than ${route.maxBytes} bytes`);
      const parsed: ParsedJson =
        body.text.trim() === '' ? { ok: true, value: undefined } : parseJson(body.text);
      if (!parsed.ok) throw unusable('the answer is not JSON');
      const refusedWith = (refusal: Refusal) => {
        const retryAfterMs = retryAfterOf(response.headers, options.now());
        return refused(name, { status, refusal, retryAfterMs, text: body.text }, redact);
      };
      if ((input.isRefusal ?? isRefusal)(parsed.value)) throw refusedWith(readRefusal(parsed.value));
      return { status, value: parsed.value, unusable, refused: refusedWith };
    } finally {
      deadline.release();
    }
  }

  async function attemptOpen(name: RouteName, input: RequestInput): Promise<OpenReply> {
    const redact = redactor(apiKey, input.body);
    const deadline = startDeadline(limits[ROUTES[name].pace], input.signal);
    try {
      const response = await send(name, input, deadline);
      if (!isGood(response.status)) throw await refuse(name, response, deadline, redact);
      const reader = response.body?.getReader();
      const close = () => {
        deadline.release();
        if (reader !== undefined) giveUp(reader);
      };
      deadline.disarm();
      const overAt = options.now() + timeouts.streamMs;
      const nextBytes = async (patience: 'stall' | 'linger') => {
        if (reader === undefined) return undefined;
        const silence = patience === 'stall' ? timeouts.stallMs : timeouts.lingerMs;
        deadline.arm(Math.max(0, Math.min(silence, overAt - options.now())));
        try {
          const { done, value } = await deadline.race(reader.read());
          return done ? undefined : value;
        } finally {
          // The gateway's silence is timed, not the time that the reader of the stream takes.
          deadline.disarm();
        }
      };
      return { status: response.status, nextBytes, deadline, redact, close };
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  return {
    call: (name, input) => withRetries(options, input.signal, () => attemptCall(name, input)),
    open: (name, input) => withRetries(options, input.signal, () => attemptOpen(name, input)),
  };
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
      throw invalid(name, `${key} cannot stand in a path`);
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

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The error for a request whose deadline came, if it did. */
export function endedBy(name: RouteName, { ended }: Deadline): GatewayError | undefined {
  switch (ended) {
    case undefined:
      return undefined;
    case 'aborted':
      return failed(name, { code: 'aborted', explanation: 'aborted by the caller' });
    case 'timeout':
      return failed(name, { code: 'timeout', explanation: 'no whole answer in time' });
    default:
      return ended satisfies never;
  }
}

/** A request as its schema lets it through: only named fields, nothing undefined; anything else is `invalid`. */
export function checked<T extends object>(name: RouteName, schema: z.ZodType<T>, request: T): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalid(name, z.prettifyError(result.error));
}
