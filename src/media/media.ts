import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../command.ts';
import { zip } from './archive.ts';
import { detectionBytes, detectMediaType } from './detect.ts';
import { MediaError } from './errors.ts';
import type { FetchExpectation, MediaFetcher } from './fetch.ts';
import type { MediaKind } from './kinds.ts';
import { audioSeconds } from './length.ts';
import { createFileLinks, type FileLink, type FileLinkQuery } from './links.ts';
import type { ByteRange, MediaStore, OpenedFile, StoredFile } from './store.ts';
import { type AudioTags, withTags } from './tags.ts';

export interface KeptFile extends StoredFile {
  kind: MediaKind;
}

interface LinkOptions {
  /** What the file is called where it is saved: see `safeFileName`. */
  downloadName: string;
  /** How long the link works; the operator's own setting if left out. */
  ttlSeconds?: number;
}

interface SongTags extends Omit<AudioTags, 'cover'> {
  /** The name of a kept picture. */
  cover?: string | undefined;
}

/** Fetching, checking, keeping and handing over files. Every method that waits may throw MediaError. */
export interface Media {
  /** Fetches a file from an untrusted address, checks what it is by its content, and keeps it under its hash. */
  keep(url: string, expect: FetchExpectation): Promise<KeptFile>;
  /** Checks and keeps bytes that are here already: a picture that came inside an answer, a text made here. */
  keepBytes(data: Uint8Array, expect: Pick<FetchExpectation, 'kinds' | 'maximumBytes'>): Promise<KeptFile>;
  /** Keeps a text made here under that extension. */
  keepText(text: string, extension: 'txt' | 'lrc'): Promise<StoredFile>;
  /** Keeps a ZIP archive of kept files, in this order and under these names. */
  archive(entries: readonly { readonly name: string; readonly file: string }[]): Promise<StoredFile>;
  /** How long the audio of a kept file lasts, in seconds; undefined when its content does not tell. */
  seconds(name: string): Promise<number | undefined>;
  /**
   * The same audio with these tags, as a file of its own. Where tags cannot be written, for whatever reason, the
   * file itself: a song is never lost to its title. The cover is left out when it is gone or too large.
   */
  tag<File extends StoredFile>(file: File, tags: SongTags): Promise<File>;
  /** Undefined when the file is not kept (any more). Throws RangeError for a range outside the file. */
  open(name: string, range?: ByteRange): Promise<OpenedFile | undefined>;
  stat(name: string): Promise<StoredFile | undefined>;
  /** A signed, expiring address of the file on the public listener. */
  link(name: string, options: LinkOptions): string;
  /** What a link asks for, when it was signed here and has not expired. */
  verifyLink(name: string, query: FileLinkQuery): FileLink | undefined;
  /** Erases a file; one that is not kept is no mistake. */
  remove(name: string): Promise<void>;
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
  /** Told of songs that go without their tags. */
  log?: Pick<Log, 'warn'>;
  /** Before the second attempt to fetch a file; doubled for each further one. */
  retryDelayMs?: number;
}

const maximumAttempts = 3;
const coverTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
/** Covers are written into every copy of a song, and held in memory on the way. */
const maximumCoverBytes = 4 * 1024 * 1024;
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

    keepText: (text, extension) => store.put(only(Buffer.from(text, 'utf8')), { extension }),

    archive: (entries) =>
      store.put(zip(entries.map(({ name, file }) => ({ name, open: () => readKept(store, file) }))), {
        extension: 'zip',
      }),

    async seconds(name) {
      const opened = await store.open(name);
      if (opened === undefined) throw new MediaError('missing', 'The file is not kept any more');
      return audioSeconds(opened);
    },

    async tag(file, { cover, ...tags }) {
      try {
        const extension = file.name.slice(file.name.lastIndexOf('.') + 1);
        const read = (range: ByteRange) => readKept(store, file.name, range);
        const source = { extension, bytes: file.bytes, read };
        const tagged = await withTags(source, { ...tags, cover: await readCover(store, cover) });
        return tagged === undefined ? file : { ...file, ...(await store.put(tagged, { extension })) };
      } catch (error) {
        options.log?.warn(
          { err: error, file: file.name },
          'Tags could not be written; the file goes without',
        );
        return file;
      }
    },

    open: (name, range) => store.open(name, range),
    stat: (name) => store.stat(name),
    link: (name, { downloadName, ttlSeconds = linkTtlSeconds }) =>
      links.url({ name, downloadName, expires: Math.floor(now() / 1000) + ttlSeconds }),
    verifyLink: links.verify,
    remove: (name) => store.remove(name),
    prune: () => store.prune(),

    async close() {
      await fetcher.close();
      await store.close();
    },
  };
}

async function readKept(store: MediaStore, name: string, range?: ByteRange): Promise<Readable> {
  const opened = await store.open(name, range);
  if (opened === undefined) throw new MediaError('missing', 'The file is not kept any more');
  return opened.stream;
}

async function readCover(store: MediaStore, name: string | undefined): Promise<Uint8Array | undefined> {
  if (name === undefined) return undefined;
  const file = await store.stat(name);
  if (file === undefined || file.bytes > maximumCoverBytes || !coverTypes.has(file.contentType))
    return undefined;
  return Buffer.concat(await Array.fromAsync(await readKept(store, name)));
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
