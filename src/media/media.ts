import { setTimeout as delay } from 'node:timers/promises';
import { detectionBytes, detectMediaType } from './detect.ts';
import { MediaError } from './errors.ts';
import type { FetchExpectation, MediaFetcher } from './fetch.ts';
import type { MediaKind } from './kinds.ts';
import { createFileLinks, type FileLink, type FileLinkQuery } from './links.ts';
import type { ByteRange, MediaStore, OpenedFile, StoredFile } from './store.ts';

export type { MediaKind } from './kinds.ts';

export interface KeptFile extends StoredFile {
  kind: MediaKind;
}

export interface LinkOptions {
  /** What the file is called where it is saved: see `safeFileName`. */
  downloadName: string;
  /** How long the link works; the operator's own setting if left out. */
  ttlSeconds?: number;
}

/** Fetching, checking, keeping and handing over files. Every method that waits may throw MediaError. */
export interface Media {
  /** Fetches a file from an untrusted address, checks what it is by its content, and keeps it under its hash. */
  keep(url: string, expect: FetchExpectation): Promise<KeptFile>;
  /** Checks and keeps bytes that are here already: a picture that came inside an answer, a text made here. */
  keepBytes(data: Uint8Array, expect: Pick<FetchExpectation, 'kinds' | 'maximumBytes'>): Promise<KeptFile>;
  /** Undefined when the file is not kept (any more). Throws RangeError for a range outside the file. */
  open(name: string, range?: ByteRange): Promise<OpenedFile | undefined>;
  stat(name: string): Promise<StoredFile | undefined>;
  /** A signed, expiring address of the file on the public listener. */
  link(name: string, options: LinkOptions): string;
  /** What a link asks for, when it was signed here and has not expired. */
  verifyLink(name: string, query: FileLinkQuery): FileLink | undefined;
  /** Lets go what is too old or too much; to be called now and then. */
  prune(): ReturnType<MediaStore['prune']>;
  close(): Promise<void>;
}

export interface MediaOptions {
  store: MediaStore;
  fetcher: MediaFetcher;
  publicUrl: string;
  /** The first signs links, all verify them. */
  secrets: readonly string[];
  linkTtlSeconds: number;
  now: () => number;
  /** Before the second attempt to fetch a file; doubled for each further one. */
  retryDelayMs?: number;
}

const maximumAttempts = 3;
/** A server that asks for more patience than this is left to the caller, who knows when to come back. */
const longestRetryDelayMs = 5_000;

export function createMedia(options: MediaOptions): Media {
  const { store, fetcher, linkTtlSeconds, now, retryDelayMs = 500 } = options;
  const links = createFileLinks(options.publicUrl, options.secrets, now);

  async function fetchOnce(url: string, expect: FetchExpectation): Promise<KeptFile> {
    const fetched = await fetcher.fetch(url, expect);
    try {
      return { ...(await store.put(fetched.stream(), fetched)), kind: fetched.kind };
    } finally {
      await fetched.discard();
    }
  }

  return {
    async keep(url, expect) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await fetchOnce(url, expect);
        } catch (error) {
          const wait = delayBeforeRetry(error, retryDelayMs * 2 ** (attempt - 1));
          if (wait === undefined || attempt === maximumAttempts) throw error;
          await pause(wait, expect.signal);
        }
      }
    },

    async keepBytes(data, { kinds, maximumBytes = Number.POSITIVE_INFINITY }) {
      if (data.byteLength > maximumBytes) {
        throw new MediaError('too-large', `Larger than the ${maximumBytes} bytes that are allowed`);
      }
      const type = await detectMediaType(data.subarray(0, detectionBytes), kinds);
      if (type === undefined) {
        throw new MediaError('type', `The content is no ${kinds.join(' or ')} of a known type`);
      }
      return { ...(await store.put(only(data), type)), kind: type.kind };
    },

    open: (name, range) => store.open(name, range),
    stat: (name) => store.stat(name),
    link: (name, { downloadName, ttlSeconds = linkTtlSeconds }) =>
      links.url({ name, downloadName, expires: Math.floor(now() / 1000) + ttlSeconds }),
    verifyLink: links.verify,
    prune: () => store.prune(),

    async close() {
      await fetcher.close();
      await store.close();
    },
  };
}

/** Only a passing fault of the other side is met again at once; a full disk or a slow server is not helped by it. */
function delayBeforeRetry(error: unknown, backoffMs: number): number | undefined {
  if (!(error instanceof MediaError) || !error.retryable) return undefined;
  if (error.code !== 'network' && error.code !== 'status') return undefined;
  const wait = Math.max(backoffMs, error.retryAfterMs ?? 0);
  return wait <= longestRetryDelayMs ? wait : undefined;
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  signal?.throwIfAborted();
}

async function* only(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
