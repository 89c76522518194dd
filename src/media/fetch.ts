import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import { declaredBytes, readBody } from './body.ts';
import { detectionBytes, detectMediaType } from './detect.ts';
import { createGuardedDispatcher, type Lookup } from './dispatcher.ts';
import { MediaError } from './errors.ts';
import type { MediaKind, MediaType } from './kinds.ts';
import { type MediaRequest, type MediaResponse, readMediaUrl, retryAfterMs, send } from './request.ts';

export interface MediaFetcherOptions {
  /** `host` or `host:port` that media may come from although their addresses are not public. */
  allowedHosts: readonly string[];
  maximumBytes: number;
  /** For one file from the first connection to its last byte. */
  timeoutMs: number;
  /** For a connection, an answer or the next bytes of a body. */
  idleTimeoutMs: number;
  maximumRedirects: number;
  /** How many files are fetched at once; the rest wait their turn. */
  concurrency: number;
  now: () => number;
  lookup?: Lookup;
}

export interface FetchExpectation {
  kinds: readonly MediaKind[];
  /** Sent to the address's own origin only, never past a redirect to another. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Lowers the fetcher's own bound. */
  maximumBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A file whose beginning has been read and checked. Read `stream()` once to its end, or `discard()` it. */
export interface FetchedMedia extends MediaType {
  /** As the server declared it; not to be trusted. */
  declaredBytes?: number;
  stream(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

export interface MediaFetcher {
  /** Fetches a file from an untrusted address. Rejects, as does the stream, with MediaError or the signal's reason. */
  fetch(url: string, expect: FetchExpectation): Promise<FetchedMedia>;
  /** Ends everything under way and closes the connections. */
  close(): Promise<void>;
}

export function createMediaFetcher(options: MediaFetcherOptions): MediaFetcher {
  const dispatcher = createGuardedDispatcher({
    allowedHosts: options.allowedHosts,
    connectTimeoutMs: options.idleTimeoutMs,
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  });
  const slots = new PQueue({ concurrency: options.concurrency });
  const closing = new AbortController();

  return {
    async fetch(address, expect) {
      const url = readMediaUrl(address);
      const callerSignals = [closing.signal, ...(expect.signal === undefined ? [] : [expect.signal])];
      const release = await takeSlot(slots, AbortSignal.any(callerSignals));
      const deadline = new AbortController();
      const timer = setTimeout(() => {
        deadline.abort(new MediaError('timeout', `Not fetched within ${options.timeoutMs} ms`));
      }, options.timeoutMs);
      const signal = AbortSignal.any([...callerSignals, deadline.signal]);
      const end = () => {
        clearTimeout(timer);
        release();
      };
      // Whoever forgets to read a stream must not hold its slot for ever.
      signal.addEventListener('abort', end, { once: true });
      try {
        return await fetchChecked(url, expect, { ...options, dispatcher, signal, end });
      } catch (error) {
        end();
        throw error;
      }
    },
    async close() {
      closing.abort(new MediaError('network', 'Closed while fetching'));
      await dispatcher.destroy();
    },
  };
}

interface FetchContext {
  dispatcher: Dispatcher;
  signal: AbortSignal;
  idleTimeoutMs: number;
  maximumBytes: number;
  maximumRedirects: number;
  now: () => number;
  end: () => void;
}

async function fetchChecked(
  url: URL,
  expect: FetchExpectation,
  context: FetchContext,
): Promise<FetchedMedia> {
  const { request, response } = await followRedirects(url, expect.headers ?? {}, context);
  checkAnswer(response, context.now());
  const maximumBytes = Math.min(context.maximumBytes, expect.maximumBytes ?? context.maximumBytes);
  const body = readBody({ first: response, request, maximumBytes });
  const { head, ended } = await readHead(body);
  const type = await detectMediaType(head, expect.kinds);
  if (type === undefined) {
    await body.return();
    throw new MediaError('type', `The content is no ${expect.kinds.join(' or ')} of a known type`);
  }
  const declared = declaredBytes(response);
  return {
    ...type,
    ...(declared === undefined ? {} : { declaredBytes: declared }),
    async *stream() {
      try {
        yield head;
        if (!ended) yield* body;
      } finally {
        await body.return();
        context.end();
      }
    },
    async discard() {
      await body.return();
      context.end();
    },
  };
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function followRedirects(first: URL, headers: Readonly<Record<string, string>>, context: FetchContext) {
  const { dispatcher, signal, idleTimeoutMs, maximumRedirects } = context;
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    const own = url.origin === first.origin ? headers : {};
    const request: MediaRequest = { url, dispatcher, signal, idleTimeoutMs, headers: own };
    const response = await send(request);
    if (!redirectStatuses.has(response.status)) return { request, response };
    response.body.destroy();
    const location = response.headers.location;
    if (location === undefined) throw new MediaError('redirects', 'A redirect that leads nowhere');
    if (redirects === maximumRedirects) {
      throw new MediaError('redirects', `More than ${maximumRedirects} redirects`);
    }
    url = readMediaUrl(location, url);
  }
}

/**
 * 404 and 425 are worth another try: stores of generated media announce a file moments before every one of
 * their servers has it.
 */
const passingStatuses: ReadonlySet<number> = new Set([404, 408, 425, 429]);

function checkAnswer(response: MediaResponse, now: number): void {
  const { status, headers } = response;
  const refuse = (error: MediaError) => {
    response.body.destroy();
    throw error;
  };
  if (status !== 200) {
    refuse(
      new MediaError('status', `The server at ${response.url.host} answered ${status}`, {
        status,
        retryable: status >= 500 || passingStatuses.has(status),
        retryAfterMs: retryAfterMs(headers['retry-after'], now),
      }),
    );
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    refuse(new MediaError('protocol', `The body came compressed (${encoding}), which was not asked for`));
  }
}

/** Reads as many chunks as detection needs; what follows stays in the body. */
async function readHead(
  body: AsyncGenerator<Uint8Array, void>,
): Promise<{ head: Uint8Array; ended: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < detectionBytes) {
    const next = await body.next();
    if (next.done) return { head: Buffer.concat(chunks), ended: true };
    chunks.push(next.value);
    bytes += next.value.byteLength;
  }
  return { head: Buffer.concat(chunks), ended: false };
}

/** Waits for a free place; the function it resolves to gives the place back, and may be called again. */
async function takeSlot(slots: PQueue, signal: AbortSignal): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  signal.throwIfAborted();
  await new Promise<void>((taken, failed) => {
    // The queue itself looks at a signal only when its turn has come.
    signal.addEventListener('abort', () => failed(signal.reason), { once: true });
    slots
      .add(async () => {
        taken();
        if (!signal.aborted) await released.promise;
      })
      .catch(failed);
  });
  return () => released.resolve();
}
