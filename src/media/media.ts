import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { MediaFile } from '../core/message.ts';
import type { FileOrigin } from '../core/origin.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { ByteRange, FileLink } from '../core/web/files.ts';
import { zip } from './archive.ts';
import type { AudioTags } from './content/id3.ts';
import { audioSeconds } from './content/length.ts';
import { type StoredBytes, withTags } from './content/tags.ts';
import { DETECTION_BYTES, detectMediaType } from './content/types.ts';
import { MediaError, tooLarge } from './errors.ts';
import type { FetchExpectation, MediaFetcher } from './fetch/fetcher.ts';
import { createFileLinks } from './links.ts';
import { provenanceOf, withMark } from './marks/files.ts';
import { createMarks, type Mark, saysGenerated } from './marks/mark.ts';
import { type MediaStore, type OpenedFile, storedNameOf } from './store/media-store.ts';

interface FileTags extends Omit<AudioTags, 'cover' | 'mark'> {
  /** The mark to write; none if absent. */
  readonly mark?: Mark | undefined;
  /** The name of a stored image. */
  readonly cover?: string | undefined;
}

/** The marks of a file. */
export interface Inspected extends Omit<FileOrigin, 'mark'> {
  readonly mark?: Mark;
}

export interface MediaOptions extends Pick<System, 'now'> {
  readonly store: MediaStore;
  readonly fetcher: MediaFetcher;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The first one signs links, all of them verify links. */
  readonly secrets: readonly string[];
  readonly linkTtlSeconds: number;
  /** Receives a warning for each file that is stored without tags. */
  readonly log: Pick<Log, 'warn'>;
}

const COVER_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
/** Covers are loaded into memory and written into each tagged song. */
const MAXIMUM_COVER_BYTES = 4 * 1024 * 1024;

/** Fetches, checks, stores and serves files. Every asynchronous method may throw MediaError. */
export type Media = ReturnType<typeof createMedia>;

export function createMedia(options: MediaOptions) {
  const { store, fetcher, linkTtlSeconds, now } = options;
  const links = createFileLinks(options.secrets, now);
  const marks = createMarks(options.secrets);
  /** Returns a signed, expiring path to a file, relative to the listener's root. `downloadName`: see `safeFileName`. */
  const path = (name: string, link: Pick<FileLink, 'downloadName' | 'page'>): string =>
    links.path({ ...link, name, expires: Math.floor(now() / 1000) + linkTtlSeconds });

  return {
    /** Fetches a file from an untrusted address, checks its type by its content, and stores it under its hash. */
    keep: (url: string, expect: FetchExpectation): Promise<MediaFile> =>
      fetcher.fetch(url, expect, (fetched) => store.put(fetched.stream, fetched)),

    /** Checks and stores bytes, such as an image inside an answer, with a mark if one is given. */
    async keepBytes(
      data: Uint8Array,
      {
        kinds,
        maximumBytes = Infinity,
        mark,
      }: Pick<FetchExpectation, 'kinds' | 'maximumBytes'> & { readonly mark?: Mark },
    ): Promise<MediaFile> {
      if (data.byteLength > maximumBytes) throw tooLarge(maximumBytes);
      const type = await detectMediaType(data.subarray(0, DETECTION_BYTES), kinds);
      if (type === undefined) {
        throw new MediaError('type', `The content is not a supported ${kinds.join(' or ')} type`);
      }
      const source = inMemory(data, type.extension);
      const marked = mark && (await withMark(source, marks.sign(mark)).catch(() => undefined));
      return store.put(marked ?? singleChunk(data), type);
    },

    /** Fetches a file and reads what it says about its origin. The file is held in memory and not stored. */
    async inspect(url: string, expect: FetchExpectation): Promise<Inspected> {
      const fetched = await fetcher.fetch(url, expect, async ({ stream, extension }) => ({
        extension,
        data: Buffer.concat(await Array.fromAsync(stream)),
      }));
      const origin = await provenanceOf(inMemory(fetched.data, fetched.extension));
      const mark = origin && marks.read(origin.texts.join('\n'));
      return {
        ...(mark && { mark }),
        isStored: (await store.stat(storedNameOf(sha256Of(fetched.data), fetched.extension))) !== undefined,
        hasManifest: origin?.c2pa ?? false,
        isGenerated: origin?.texts.some(saysGenerated) ?? false,
        isReadable: origin !== undefined,
      };
    },

    /** Stores a text of the bot. */
    keepText: (text: string, extension: 'txt' | 'lrc') =>
      store.put(singleChunk(Buffer.from(text, 'utf8')), { extension }),

    /** Stores Opus packets. */
    keepOpus: (packets: AsyncIterable<Uint8Array>) => store.put(packets, { extension: 'packets' }),

    /** Stores a ZIP archive of stored files, in this order and with these names. */
    async archive(entries: readonly { readonly name: string; readonly file: string }[]): Promise<MediaFile> {
      const files = entries.map(({ name, file }) => ({ name, open: () => readStored(store, file) }));
      return store.put(zip(files), { extension: 'zip' });
    },

    /** Returns the length of a stored recording in seconds. Undefined if unknown. */
    seconds: async (name: string) => audioSeconds(await openStored(store, name)),

    /**
     * Stores a copy of the file with its mark, and with these tags if it is audio. Returns the file itself if it has a mark or
     * cannot hold one. Leaves the cover out if it is too large or no longer stored.
     */
    async tag(file: MediaFile, { cover, mark: unsigned, ...tags }: FileTags): Promise<MediaFile> {
      try {
        const extension = extensionOf(file.name);
        const read = (range: ByteRange) => readStored(store, file.name, range);
        const source = { extension, bytes: file.bytes, read };
        const mark = unsigned && marks.sign(unsigned);
        const tagged =
          (await withTags(source, { ...tags, mark, cover: await readCover(store, cover) })) ??
          (mark && (await withMark(source, mark)));
        return tagged === undefined ? file : await store.put(tagged, { extension });
      } catch (error) {
        options.log.warn(
          { err: error, file: file.name },
          'Could not write the tags; the file is stored without them',
        );
        return file;
      }
    },

    open: store.open,
    stat: store.stat,
    remove: store.remove,
    prune: store.prune,
    path,
    /** The same as an absolute URL. */
    link: (...file: Parameters<typeof path>) => `${options.publicUrl}/${path(...file)}`,
    verifyLink: links.verify,

    async close() {
      await fetcher.close();
      await store.close();
    },
  };
}

/** A file in memory, to be read like a stored one. */
function inMemory(data: Uint8Array, extension: string): StoredBytes {
  const read = async ({ start, end }: ByteRange) =>
    singleChunk(data.subarray(start, end === undefined ? undefined : end + 1));
  return { extension, bytes: data.byteLength, read };
}

const sha256Of = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

async function openStored(store: MediaStore, name: string, range?: ByteRange): Promise<OpenedFile> {
  const opened = await store.open(name, range);
  if (opened === undefined) throw new MediaError('missing', 'The file is no longer available');
  return opened;
}

async function readStored(store: MediaStore, name: string, range?: ByteRange): Promise<Readable> {
  return (await openStored(store, name, range)).stream;
}

async function readCover(store: MediaStore, name: string | undefined): Promise<Uint8Array | undefined> {
  if (name === undefined) return undefined;
  const file = await store.stat(name);
  if (file === undefined || file.bytes > MAXIMUM_COVER_BYTES || !COVER_TYPES.has(file.contentType))
    return undefined;
  return Buffer.concat(await Array.fromAsync(await readStored(store, name)));
}

async function* singleChunk(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
