import type { RouteName } from '../routes.ts';
import type { GatewayErrorCode } from './errors.ts';

/** Longest times in milliseconds; past them a call fails with `timeout` or `stalled`. */
export interface Timeouts {
  /** Reading something: models, video task, token count. */
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

export const DEFAULT_TIMEOUTS = {
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

export interface FetchedResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<void>;
    };
  } | null;
}

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
  /** Milliseconds of a clock that is never set, for how long something takes; `now` unless said. */
  elapsed?: () => number;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Resolves after `ms`; resolves or rejects early when `signal` aborts. Used between tries. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  timeouts?: Partial<Timeouts>;
  log?: { warn(facts: object, message: string): void };
}
