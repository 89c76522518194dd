/** Sends spans in batches, in the background. What cannot be sent is bounded, and what is sent delays nothing. */
import { z } from 'zod';
import { backoff } from '../../../core/backoff.ts';
import type { System } from '../../../core/system.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { retryAfterOf } from '../../../gateway/transport/retry.ts';
import { encodeSpans } from './otlp.ts';
import type { FinishedSpan } from './tracer.ts';

/** As the specification's batch processor has them: https://opentelemetry.io/docs/specs/otel/trace/sdk/#batching-processor */
const MOST_WAITING = 2_048;
const LARGEST_BATCH = 512;
/** Between two tries. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** The specification's default for one request. */
const TIMEOUT_MS = 10_000;
/** How long the end of the process waits for spans that are not sent yet. */
const CLOSING_MS = 2_000;
/** The specification of OTLP/HTTP names these statuses; all others are final. */
const RETRYABLE = new Set([429, 502, 503, 504]);

interface CollectorResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface ExporterOptions extends Pick<System, 'now' | 'random' | 'sleep'> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How long spans wait for others to be sent with them. */
  readonly delayMs: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly fetch: (
    url: string,
    init: {
      method: 'POST';
      headers: Record<string, string>;
      body: string;
      signal: AbortSignal;
      redirect: 'error';
    },
  ) => Promise<CollectorResponse>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export interface SpanExporter {
  /** Returns at once. The oldest spans give way where more wait than can be sent. */
  add(span: FinishedSpan): void;
  /** Sends what waits, and gives up after two seconds. Never rejects. */
  close(): Promise<void>;
}

/** `again`: milliseconds after which to try again; undefined where there is nothing to be tried again. */
type Sent = { readonly ok: true } | { readonly ok: false; readonly again: number | undefined };

export function createSpanExporter(options: ExporterOptions): SpanExporter {
  const { log, sleep } = options;
  let waiting: FinishedSpan[] = [];
  let lost = 0;
  let failures = 0;
  let sending: Promise<void> | undefined;
  /** Ends the pause of the moment. */
  let wake = new AbortController();
  /** Ends the request of the moment. */
  let request = new AbortController();
  let isClosing = false;
  let isClosed = false;

  function keepNewest(spans: FinishedSpan[]): void {
    lost += Math.max(0, spans.length - MOST_WAITING);
    waiting = spans.slice(-MOST_WAITING);
  }

  async function pauseFor(milliseconds: number): Promise<void> {
    if (isClosing) return;
    wake = new AbortController();
    await sleep(milliseconds, wake.signal);
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && !isClosed) {
      if (waiting.length < LARGEST_BATCH) await pauseFor(options.delayMs);
      const batch = waiting.splice(0, LARGEST_BATCH);
      const sent = await send(batch);
      if (sent.ok) continue;
      // A process that ends has one try.
      if (sent.again === undefined || isClosing) {
        lost += batch.length;
        continue;
      }
      keepNewest([...batch, ...waiting]);
      await pauseFor(sent.again);
    }
    sending = undefined;
  }

  async function send(batch: readonly FinishedSpan[]): Promise<Sent> {
    const attempt = new AbortController();
    request = attempt;
    const ended = new AbortController();
    void sleep(TIMEOUT_MS, ended.signal).then(() => attempt.abort());
    try {
      const response = await options.fetch(options.url, {
        method: 'POST',
        headers: { ...options.headers, 'content-type': 'application/json' },
        body: encodeSpans(batch, options.resource),
        signal: attempt.signal,
        redirect: 'error',
      });
      const { status } = response;
      const text = await response.text();
      if (status < 200 || status > 299) {
        tellFailure({ status });
        return { ok: false, again: RETRYABLE.has(status) ? pause(response.headers) : undefined };
      }
      tellSuccess();
      const rejected = rejectedIn(text);
      if (rejected > 0) log.warn({ rejected }, 'The collector of traces refused some spans');
      return { ok: true };
    } catch (error) {
      tellFailure({ err: error });
      return { ok: false, again: pause() };
    } finally {
      ended.abort();
    }
  }

  function pause(headers?: CollectorResponse['headers']): number {
    const asked = headers && retryAfterOf(headers, options.now());
    const { random } = options;
    const own = backoff({ attempt: failures, firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, random });
    return Math.max(own, asked ?? 0);
  }

  /** Once for each time that it is away. */
  function tellFailure(facts: object): void {
    failures += 1;
    if (failures === 1)
      log.warn(facts, `Traces could not be sent: the newest ${MOST_WAITING} spans wait until they can be`);
  }

  function tellSuccess(): void {
    if (failures > 0) log.info({ lost }, 'Traces are sent again');
    failures = 0;
    lost = 0;
  }

  return {
    add(span) {
      if (isClosed) return;
      waiting.push(span);
      if (waiting.length > MOST_WAITING) keepNewest(waiting);
      // Not while the collector is away: then the pause is its own.
      if (waiting.length === LARGEST_BATCH && failures === 0) wake.abort();
      sending ??= sendAll();
    },
    async close() {
      isClosing = true;
      wake.abort();
      const bound = new AbortController();
      await Promise.race([sending, sleep(CLOSING_MS, bound.signal)]);
      bound.abort();
      isClosed = true;
      request.abort();
      await sending;
    },
  };
}

/** https://opentelemetry.io/docs/specs/otlp/#partial-success-1; 64 bits are text in JSON. */
const answerSchema = z.object({ partialSuccess: z.object({ rejectedSpans: z.coerce.number() }) });

function rejectedIn(text: string): number {
  try {
    return answerSchema.safeParse(JSON.parse(text)).data?.partialSuccess.rejectedSpans ?? 0;
  } catch {
    return 0;
  }
}
