import { z } from 'zod';
import { backoff, retryAfterOf } from '../../core/util/backoff.ts';
import {
  type Accounts,
  GATEWAY_FAMILIES,
  type GatewayRoute,
  ROUTES,
  type RouteAt,
  type RouteName,
  routeAt,
  type ServiceAccount,
} from '../routes.ts';
import { cancelReader, type FetchedResponse, readBodyText } from './body.ts';
import { ABORTED, type Deadline, deadlineError, startDeadline } from './deadline.ts';
import { failed, GatewayError, type GatewayErrorCode, invalid, transportError } from './errors.ts';
import { parseJson } from './json.ts';
import { redactor } from './redact.ts';
import { isRefusal, type Refusal, readRefusal } from './refusal-body.ts';
import { isWebPage, refused } from './refusals.ts';

/** In milliseconds. After them, a call fails with `timeout` or `stalled`. */
interface Timeouts {
  /** For reads: models, video tasks. */
  quickMs: number;
  /** For submissions of work that runs later. */
  submitMs: number;
  /** For responses that contain the work: a whole answer, an image. */
  answerMs: number;
  /** For a silent stream. Keep-alive comments end the silence. */
  stallMs: number;
  /** For a whole stream. */
  streamMs: number;
  /** For the connection to close after the answer has ended. Only more of the answer extends it. */
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

/** The part of `fetch` that the client uses. Node's and undici's both match. */
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

/** A request that succeeded or failed. */
export interface FinishedRequest {
  readonly route: RouteName;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  readonly code: 'ok' | GatewayErrorCode;
  /** Until the response, or until its first byte if it is streamed. */
  readonly milliseconds: number;
  /** Starts at 1. */
  readonly tries: number;
}

export interface GatewayOptions {
  /** Called after each request. */
  readonly onRequest?: (request: FinishedRequest) => void;
  /** The services by family. Routes of other families fail with `no-service`. */
  accounts: Accounts;
  fetch: Fetch;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  /** Returns a number in [0, 1). */
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
  /** Replaces the default `isRefusal` for routes whose results resemble refusals. */
  isRefusal?: (value: unknown) => boolean;
  /** True if the body of an error status is a result. */
  isAnswer?: (value: unknown) => boolean;
  /** Accepts plain text as the value. */
  plainText?: boolean;
}

/** A successful response. */
export interface Reply {
  status: number;
  /** The parsed body. Undefined if it is empty. */
  value: unknown;
  /** Creates an error for a response without usable content. */
  unusable(explanation: string): GatewayError;
  /** Creates an error for a response that is a refusal. */
  refused(refusal: Refusal): GatewayError;
}

/** A successful response whose body is read in pieces. Must be closed. */
export interface OpenReply {
  status: number;
  /** Returns undefined at the end. Throws GatewayError `aborted`, `stalled` or `broken-stream`. */
  nextBytes(): Promise<Uint8Array | undefined>;
  /** Limits the remaining time of the stream to `lingerMs`. */
  linger(): void;
  /** Creates an error for a refusal in the body. `midStream`: part of the answer came first, so work was done. */
  refused(body: unknown, text: string, midStream: boolean): GatewayError;
  failed(code: GatewayErrorCode, explanation: string): GatewayError;
  close(): void;
}

export interface Requester {
  call(name: RouteName, input: RequestInput): Promise<Reply>;
  open(name: RouteName, input: RequestInput): Promise<OpenReply>;
  /** Undefined if the family has no service, or the service has no such route. */
  at(name: RouteName): RouteAt | undefined;
}

/** Maximum size of an error body, in bytes. */
const LONGEST_REFUSAL = 64 * 1024;
/** Text that is neither incomplete JSON nor a web page. */
const PLAIN = /^\s*[^\s<{["]/;

export function createRequester(options: GatewayOptions): Requester {
  const { elapsed, accounts } = options;
  for (const family of GATEWAY_FAMILIES) if (accounts[family]) assertValid(accounts[family]);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const limits = { quick: timeouts.quickMs, submit: timeouts.submitMs, answer: timeouts.answerMs } as const;

  const found = (name: RouteName): (RouteAt & Pick<ServiceAccount, 'apiKey'>) | undefined => {
    const account = accounts[ROUTES[name].family];
    const at = account && routeAt(name, account);
    return at && { ...at, apiKey: account.apiKey };
  };

  async function send(
    name: RouteName,
    { url, headers, body: adapt }: RouteAt,
    input: RequestInput,
    deadline: Deadline,
  ): Promise<FetchedResponse> {
    if (deadline.ended() !== undefined)
      throw failed(name, {
        code: 'aborted',
        neverSent: true,
        explanation: 'aborted before the request was sent',
      });
    const filled = fillPath(name, url, input);
    const body = input.body === undefined ? {} : { body: JSON.stringify(adapt(input.body)) };
    try {
      return await options.fetch(filled, {
        method: ROUTES[name].method,
        headers: { ...headers },
        ...body,
        signal: deadline.signal,
        // Following a redirect would send the key to another host and submit paid work twice.
        redirect: 'manual',
      });
    } catch (error) {
      throw deadlineError(name, deadline) ?? transportError(name, error);
    }
  }

  /** Sends a request and waits for its status. The deadline must be released unless this throws. */
  async function begin(name: RouteName, input: RequestInput) {
    const at = found(name);
    if (at === undefined)
      throw failed(name, { code: 'no-service', neverSent: true, explanation: 'no service is set' });
    const redact = redactor(at.apiKey, input.body);
    const deadline = startDeadline(limits[ROUTES[name].limit], input.signal);
    try {
      const response = await send(name, at, input, deadline);
      const { status } = response;
      const retryAfterMs = retryAfterOf(response.headers, options.now());
      const refusalError = (refusal: Refusal, text: string, midStream = false) =>
        refused(name, { status, refusal, retryAfterMs, text, midStream }, redact);
      return { response, status, isGood: status >= 200 && status < 300, deadline, refusalError };
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  async function attemptCall(name: RouteName, input: RequestInput): Promise<Reply> {
    const { maxBytes }: GatewayRoute = ROUTES[name];
    const { response, status, isGood, deadline, refusalError } = await begin(name, input);
    try {
      const { text, tooLong, failure } = await readBodyText(
        response.body,
        isGood ? maxBytes : LONGEST_REFUSAL,
      );
      const value = parseJson(text) ?? (input.plainText && isGood && PLAIN.test(text) ? text : undefined);
      if (!isGood && input.isAnswer?.(value) !== true) throw refusalError(readRefusal(value), text);
      if (failure !== undefined) throw deadlineError(name, deadline) ?? transportError(name, failure);
      const unusable = (explanation: string) =>
        failed(name, { code: isWebPage(text) ? 'no-api' : 'nonsense', explanation, status });
      if (tooLong) throw unusable(`the response is longer than ${maxBytes} bytes`);
      if (value === undefined && text.trim() !== '') throw unusable('the response is not JSON');
      if ((input.isRefusal ?? isRefusal)(value)) throw refusalError(readRefusal(value), text);
      return { status, value, unusable, refused: (refusal) => refusalError(refusal, text) };
    } finally {
      deadline.release();
    }
  }

  async function attemptOpen(name: RouteName, input: RequestInput): Promise<OpenReply> {
    const { response, status, isGood, deadline, refusalError } = await begin(name, input);
    if (!isGood) {
      const { text } = await readBodyText(response.body, LONGEST_REFUSAL);
      deadline.release();
      throw refusalError(readRefusal(parseJson(text)), text);
    }
    deadline.disarm();
    const reader = response.body?.getReader();
    const endsAt = elapsed() + timeouts.streamMs;
    let remainingMs = Number.POSITIVE_INFINITY;
    const readError = (cause: unknown): GatewayError => {
      const ended = deadline.ended();
      if (ended === 'aborted') return failed(name, { code: 'aborted', explanation: ABORTED });
      return ended === 'timeout'
        ? failed(name, { code: 'stalled', explanation: 'no data arrived in time', status, cause })
        : failed(name, { code: 'broken-stream', explanation: 'the connection was lost', status, cause });
    };
    return {
      status,
      linger() {
        remainingMs = timeouts.lingerMs;
      },
      async nextBytes() {
        const startedAt = elapsed();
        deadline.arm(Math.max(0, Math.min(timeouts.stallMs, remainingMs, endsAt - startedAt)));
        try {
          return (await reader?.read())?.value;
        } catch (error) {
          throw readError(error);
        } finally {
          // Only the gateway's silence counts, not the time between two reads.
          deadline.disarm();
          remainingMs -= elapsed() - startedAt;
        }
      },
      refused: (body, text, midStream) => refusalError(readRefusal(body), text, midStream),
      failed: (code, explanation) => failed(name, { code, explanation, status }),
      close() {
        deadline.release();
        if (reader) cancelReader(reader);
      },
    };
  }

  /** Makes one attempt and reports it. */
  async function withReport<R extends { readonly status: number }>(
    route: RouteName,
    tries: number,
    attempt: () => Promise<R>,
  ): Promise<R> {
    const startedAt = elapsed();
    const report = (status: number | undefined, code: FinishedRequest['code']) =>
      options.onRequest?.({ route, status, code, milliseconds: elapsed() - startedAt, tries });
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
   * Retries reads after temporary failures, within the budget and after Retry-After. Paid work is sent once. Its job decides
   * about retries, so that people see them and they survive a crash.
   */
  async function call(route: RouteName, input: RequestInput): Promise<Reply> {
    const deadline = elapsed() + BUDGET_MS;
    for (let tries = 1; ; tries++) {
      try {
        return await withReport(route, tries, () => attemptCall(route, input));
      } catch (error) {
        if (!(error instanceof GatewayError) || !isWorthRetrying(error) || tries >= MAX_TRIES) throw error;
        const delay = backoff({ ...PAUSES, attempt: tries, random: options.random });
        const wait = Math.ceil(Math.max(delay, error.retryAfterMs ?? 0));
        if (elapsed() + wait > deadline) throw error;
        await options.sleep(wait, input.signal);
        if (input.signal?.aborted === true)
          throw failed(route, { code: 'aborted', explanation: ABORTED, cause: error });
      }
    }
  }

  return {
    call,
    open: (route, input) => withReport(route, 1, () => attemptOpen(route, input)),
    at: found,
  };
}

const MAX_TRIES = 4;
/** No attempt starts later than this after the first one. */
const BUDGET_MS = 20_000;
/** The delays of the vendors' clients (@anthropic-ai/sdk client.ts). */
const PAUSES = { firstMs: 500, longestMs: 8_000 } as const;

function isWorthRetrying({ retryable, retryAfterMs, code, route }: GatewayError): boolean {
  return retryable && ROUTES[route].kind === 'read' && (code !== 'maintenance' || retryAfterMs !== undefined);
}

function assertValid({ baseUrl, apiKey, service }: ServiceAccount): void {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new TypeError('the gateway base URL must be an http or https URL without a query');
  }
  if (service === 'public' && apiKey === undefined) return;
  if (!/^[\x21-\x7e]+$/.test(apiKey ?? ''))
    throw new TypeError('the gateway API key must contain only visible ASCII characters');
}

function fillPath(name: RouteName, path: string, { path: values = {}, query = {} }: RequestInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const segments = (values[key] ?? '').split('/');
    // "." and ".." would lead to another route.
    if (segments.some((segment) => segment.trim() === '' || /^\.{1,2}$/.test(segment))) {
      throw invalid(name, `${key} cannot be used in a path`);
    }
    return segments.map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}${filled.includes('?') ? '&' : '?'}${search}`;
}

/** Validates a request and removes unknown fields. Throws GatewayError `invalid`. */
export function checked<T extends object>(name: RouteName, schema: z.ZodType<T>, request: T): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalid(name, z.prettifyError(result.error));
}
