import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import type { System } from '../../core/system.ts';
import { type ContentKind, detectionBytes, detectMediaType, type MediaType } from '../content/types.ts';
import { MediaError } from '../errors.ts';
import { createGuardedDispatcher, type Lookup } from './guard.ts';
import { readMedia, readMediaUrl, send } from './request.ts';

/** Who named an address. What a person types is fetched from public addresses only. */
export type AddressSource = 'gateway' | 'platform' | 'person';

export interface MediaFetcherOptions extends Pick<System, 'now' | 'random'> {
  /** Each as `host:port`: what media may come from although the addresses are not public. */
  allowedHosts: Readonly<Record<Exclude<AddressSource, 'person'>, ReadonlySet<string>>>;
  maximumBytes: number;
  /** For one file from the first connection to its last byte. What a person names is small, and its server anyone's. */
  timeoutMs: Readonly<Record<AddressSource, number>>;
  /** For a connection, an answer or the next bytes of a body. */
  idleTimeoutMs: number;
  maximumRedirects: number;
  /** How many files of each source are fetched at once; the others wait. */
  concurrency: number;
  lookup?: Lookup;
}

export interface FetchExpectation {
  kinds: readonly ContentKind[];
  from: AddressSource;
  /** Sent to the address's own origin only, never past a redirect to another. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Lowers the fetcher's own bound. */
  maximumBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A file whose beginning has been read and checked. Read `stream()` once to its end, or `discard()` it. */
interface FetchedMedia extends MediaType {
  stream(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

export type MediaFetcher = ReturnType<typeof createMediaFetcher>;

export function createMediaFetcher(options: MediaFetcherOptions) {
  const dispatcherFor = (allowedHosts: ReadonlySet<string>) =>
    createGuardedDispatcher({
      allowedHosts,
      connectTimeoutMs: options.idleTimeoutMs,
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    });
  // Connections are shared within one, so what is open for the gateway is not open for people.
  const dispatchers: Readonly<Record<AddressSource, Dispatcher>> = {
    gateway: dispatcherFor(options.allowedHosts.gateway),
    platform: dispatcherFor(options.allowedHosts.platform),
    person: dispatcherFor(new Set()),
  };
  const queue = () => new PQueue({ concurrency: options.concurrency });
  // Slow servers that people name must not hold up the gateway's results.
  const slots: Readonly<Record<AddressSource, PQueue>> = {
    gateway: queue(),
    platform: queue(),
    person: queue(),
  };
  const closing = new AbortController();

  return {
    /** Fetches a file from an untrusted address. Rejects, as does the stream, with MediaError or the signal's reason. */
    async fetch(address: string, expect: FetchExpectation): Promise<FetchedMedia> {
      const url = readMediaUrl(address);
      const { signal, abort, release } = followSignals([closing.signal, expect.signal]);
      const timeoutMs = options.timeoutMs[expect.from];
      const slot = await takeSlot(slots[expect.from], signal).catch((error: unknown) => {
        release();
        throw error;
      });
      const timer = setTimeout(() => {
        abort(new MediaError('timeout', `Not fetched within ${timeoutMs} ms`));
      }, timeoutMs);
      const end = () => {
        clearTimeout(timer);
        release();
        slot();
      };
      // A stream that is never read must not hold its slot for ever.
      signal.addEventListener('abort', end, { once: true });
      try {
        return await fetchChecked(url, expect, {
          ...options,
          dispatcher: dispatchers[expect.from],
          signal,
          end,
        });
      } catch (error) {
        end();
        throw error;
      }
    },
    /** Aborts all fetches and closes the connections. */
    async close(): Promise<void> {
      closing.abort(new MediaError('network', 'Closed while fetching'));
      await Promise.all(Object.values(dispatchers).map((dispatcher) => dispatcher.destroy()));
    },
  };
}

interface FetchContext extends MediaFetcherOptions {
  dispatcher: Dispatcher;
  signal: AbortSignal;
  end: () => void;
}

async function fetchChecked(
  url: URL,
  expect: FetchExpectation,
  context: FetchContext,
): Promise<FetchedMedia> {
  const response = await send({ ...context, url, headers: expect.headers ?? {} });
  const maximumBytes = Math.min(context.maximumBytes, expect.maximumBytes ?? context.maximumBytes);
  const body = readMedia(response, maximumBytes, context.signal);
  const { head, ended } = await readHead(body);
  const type = await detectMediaType(head, expect.kinds);
  if (type === undefined) {
    await body.return();
    throw new MediaError('type', `The content is no ${expect.kinds.join(' or ')} of a known type`);
  }
  const discard = async () => {
    await body.return();
    context.end();
  };
  return {
    ...type,
    async *stream() {
      try {
        yield head;
        if (!ended) yield* body;
      } finally {
        await discard();
      }
    },
    discard,
  };
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

/** Waits for a free slot. The function it resolves to frees the slot, and may be called again. */
async function takeSlot(slots: PQueue, signal: AbortSignal): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  signal.throwIfAborted();
  await new Promise<void>((taken, failed) => {
    // The queue itself checks a signal only when the task starts.
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
