import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import type { System } from '../../core/system.ts';
import { present } from '../../core/util/present.ts';
import { type ContentKind, DETECTION_BYTES, detectMediaType, type MediaType } from '../content/types.ts';
import { MediaError } from '../errors.ts';
import { createGuardedDispatcher, type Lookup } from './guard.ts';
import { readMedia, readMediaUrl, send } from './request.ts';

/** Who named an address. What a person types is fetched from public addresses only. */
export type AddressSource = 'gateway' | 'platform' | 'person';

export interface MediaFetcherOptions extends Pick<System, 'now' | 'random' | 'sleep'> {
  /** Each as `host:port`: what media may come from although the addresses are not public. */
  readonly allowedHosts: Readonly<Record<Exclude<AddressSource, 'person'>, ReadonlySet<string>>>;
  readonly maximumBytes: number;
  /** For one file from the first connection to its last byte. What a person names is small, and its server anyone's. */
  readonly timeoutMs: Readonly<Record<AddressSource, number>>;
  /** For a connection, an answer or the next bytes of a body. */
  readonly idleTimeoutMs: number;
  readonly maximumRedirects: number;
  /** How many files of each source are fetched at once; the others wait. */
  readonly concurrency: number;
  readonly lookup?: Lookup;
}

export interface FetchExpectation {
  readonly kinds: readonly ContentKind[];
  readonly from: AddressSource;
  /** Sent to the address's own origin only, never past a redirect to another. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Lowers the fetcher's own bound. */
  readonly maximumBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file whose beginning has been read and checked. */
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
  // Connections are shared within one, so what is open for the gateway is not open for people.
  const dispatchers: Readonly<Record<AddressSource, Dispatcher>> = {
    gateway: dispatcherFor(options.allowedHosts.gateway),
    platform: dispatcherFor(options.allowedHosts.platform),
    person: dispatcherFor(new Set()),
  };
  const queue = () => new PQueue({ concurrency: options.concurrency });
  // Slow servers that people name must not hold up the gateway's results.
  const queues: Readonly<Record<AddressSource, PQueue>> = {
    gateway: queue(),
    platform: queue(),
    person: queue(),
  };
  const closing = new AbortController();

  return {
    /**
     * Fetches a file from an untrusted address and resolves to what `use` makes of it. Rejects, as does the stream, with
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

/** Reads as many chunks as detection needs; the rest stays in the body. */
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
 * A signal that aborts with the first of `sources`, until it is released. `AbortSignal.any` would be kept in memory, with
 * all that listens to it, as long as its longest-lived source.
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
