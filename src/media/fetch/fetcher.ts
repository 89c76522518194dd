import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import type { System } from '../../core/system.ts';
import { present } from '../../core/util/present.ts';
import { type ContentKind, DETECTION_BYTES, detectMediaType, type MediaType } from '../content/types.ts';
import { MediaError } from '../errors.ts';
import { createGuardedDispatcher, type Lookup } from './guard.ts';
import { readMedia, readMediaUrl, send } from './request.ts';

/** The source of an address. Addresses that people type must be public. */
export type AddressSource = 'gateway' | 'platform' | 'person';

export interface MediaFetcherOptions extends Pick<System, 'now' | 'random' | 'sleep'> {
  /** Hosts with private addresses that are allowed, as `host:port`. */
  readonly allowedHosts: Readonly<Record<Exclude<AddressSource, 'person'>, ReadonlySet<string>>>;
  readonly maximumBytes: number;
  /** For a whole download. Shorter for people's addresses, whose files are small and whose servers are untrusted. */
  readonly timeoutMs: Readonly<Record<AddressSource, number>>;
  /** For a connection, a response or the next bytes of a body. */
  readonly idleTimeoutMs: number;
  readonly maximumRedirects: number;
  /** Parallel downloads for each source. */
  readonly concurrency: number;
  readonly lookup?: Lookup;
}

export interface FetchExpectation {
  readonly kinds: readonly ContentKind[];
  readonly from: AddressSource;
  /** Sent only to the origin of the address, not after a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Lowers the fetcher's limit. */
  readonly maximumBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file whose type has been checked. */
interface FetchedMedia extends MediaType {
  readonly stream: AsyncIterable<Uint8Array>;
}

export type MediaFetcher = ReturnType<typeof createMediaFetcher>;

export function createMediaFetcher(options: MediaFetcherOptions) {
  const dispatcherFor = (allowedHosts: ReadonlySet<string>) =>
    createGuardedDispatcher({
      allowedHosts,
      connectTimeoutMs: options.idleTimeoutMs,
      ...present({ lookup: options.lookup }),
    });
  // Separate, because connections are shared within a dispatcher and people must not use the gateway's.
  const dispatchers: Readonly<Record<AddressSource, Dispatcher>> = {
    gateway: dispatcherFor(options.allowedHosts.gateway),
    platform: dispatcherFor(options.allowedHosts.platform),
    person: dispatcherFor(new Set()),
  };
  const queue = () => new PQueue({ concurrency: options.concurrency });
  // Slow servers of people's addresses must not delay the gateway's results.
  const queues: Readonly<Record<AddressSource, PQueue>> = {
    gateway: queue(),
    platform: queue(),
    person: queue(),
  };
  const closing = new AbortController();

  return {
    /**
     * Fetches a file from an untrusted address and returns the result of `use`. The call and the stream reject with
     * MediaError or the signal's reason.
     */
    async fetch<Result>(
      address: string,
      expect: FetchExpectation,
      use: (file: FetchedMedia) => Promise<Result>,
    ): Promise<Result> {
      const { from } = expect;
      const url = readMediaUrl(address);
      const { signal, abort, release } = followSignals([closing.signal, expect.signal]);
      const task = async () => {
        signal.throwIfAborted();
        const timeoutMs = options.timeoutMs[from];
        const timer = setTimeout(() => {
          abort(new MediaError('timeout', `The download took longer than ${timeoutMs} ms`));
        }, timeoutMs);
        try {
          return await fetchChecked(url, expect, { ...options, dispatcher: dispatchers[from], signal }, use);
        } finally {
          clearTimeout(timer);
        }
      };
      try {
        return await abortable(queues[from].add(task), signal);
      } finally {
        release();
      }
    },
    /** Aborts all fetches and closes the connections. */
    async close(): Promise<void> {
      closing.abort(new MediaError('network', 'Closed during the download'));
      await Promise.all(Object.values(dispatchers).map((dispatcher) => dispatcher.destroy()));
    },
  };
}

interface FetchContext extends MediaFetcherOptions {
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

async function fetchChecked<Result>(
  url: URL,
  { headers = {}, kinds, maximumBytes = Infinity }: FetchExpectation,
  context: FetchContext,
  use: (file: FetchedMedia) => Promise<Result>,
): Promise<Result> {
  const response = await send({ ...context, url, headers });
  const body = readMedia(response, Math.min(context.maximumBytes, maximumBytes), context.signal);
  try {
    const head = await readHead(body);
    const type = await detectMediaType(head, kinds);
    if (type === undefined)
      throw new MediaError('type', `The content is not a supported ${kinds.join(' or ')} type`);
    return await use({ ...type, stream: joined(head, body) });
  } finally {
    response.body.destroy();
  }
}

/** Reads the chunks that detection needs and leaves the rest in the body. */
async function readHead(body: AsyncGenerator<Uint8Array, void>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < DETECTION_BYTES) {
    const { done, value } = await body.next();
    if (done) break;
    chunks.push(value);
    bytes += value.byteLength;
  }
  return Buffer.concat(chunks);
}

async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>) {
  yield head;
  yield* rest;
}

/** Rejects as soon as the signal aborts. p-queue checks a signal only when a task starts. */
async function abortable<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]);
}

/**
 * Returns a signal that aborts with the first of `sources`, until it is released. `AbortSignal.any` would stay in memory as
 * long as its longest-lived source.
 */
function followSignals(sources: readonly (AbortSignal | undefined)[]) {
  const controller = new AbortController();
  const present = sources.filter((source) => source !== undefined);
  const abort = (reason: unknown) => controller.abort(reason);
  const follow = () => abort(present.find(({ aborted }) => aborted)?.reason);
  for (const source of present) {
    if (source.aborted) abort(source.reason);
    else source.addEventListener('abort', follow, { once: true });
  }
  const release = () => {
    for (const source of present) source.removeEventListener('abort', follow);
  };
  return { signal: controller.signal, abort, release };
}
