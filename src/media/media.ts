import type { Readable } from 'node:stream';
import type { MediaFile } from '../core/message.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { ByteRange, FileLink } from '../core/web/files.ts';
import { zip } from './archive.ts';
import type { AudioTags } from './content/id3.ts';
import { audioSeconds } from './content/length.ts';
import { withTags } from './content/tags.ts';
import { DETECTION_BYTES, detectMediaType } from './content/types.ts';
import { MediaError, tooLarge } from './errors.ts';
import type { FetchExpectation, MediaFetcher } from './fetch/fetcher.ts';
import { createFileLinks } from './links.ts';
import type { MediaStore, OpenedFile } from './store/media-store.ts';

interface SongTags extends Omit<AudioTags, 'cover'> {
  /** The name of a stored image. */
  readonly cover?: string | undefined;
}

export interface MediaOptions extends Pick<System, 'now'> {
  readonly store: MediaStore;
  readonly fetcher: MediaFetcher;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The first one signs links, all of them verify links. */
  readonly secrets: readonly string[];
  readonly linkTtlSeconds: number;
  /** Receives a warning for each song that is stored without tags. */
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
  /** Returns a signed, expiring path to a file, relative to the listener's root. `downloadName`: see `safeFileName`. */
  const path = (name: string, link: Pick<FileLink, 'downloadName' | 'page'>): string =>
    links.path({ ...link, name, expires: Math.floor(now() / 1000) + linkTtlSeconds });

  return {
    /** Fetches a file from an untrusted address, checks its type by its content, and stores it under its hash. */
    keep: (url: string, expect: FetchExpectation): Promise<MediaFile> =>
      fetcher.fetch(url, expect, (fetched) => store.put(fetched.stream, fetched)),

    /** Checks and stores bytes, such as an image inside an answer. */
    async keepBytes(
      data: Uint8Array,
      { kinds, maximumBytes = Infinity }: Pick<FetchExpectation, 'kinds' | 'maximumBytes'>,
    ): Promise<MediaFile> {
      if (data.byteLength > maximumBytes) throw tooLarge(maximumBytes);
      const type = await detectMediaType(data.subarray(0, DETECTION_BYTES), kinds);
      if (type === undefined) {
        throw new MediaError('type', `The content is not a supported ${kinds.join(' or ')} type`);
      }
      return store.put(singleChunk(data), type);
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
     * Stores a copy of the audio with these tags. Returns the file itself if tags cannot be written. Leaves the cover out if
     * it is too large or no longer stored.
     */
    async tag(file: MediaFile, { cover, ...tags }: SongTags): Promise<MediaFile> {
      try {
        const extension = file.name.slice(file.name.lastIndexOf('.') + 1);
        const read = (range: ByteRange) => readStored(store, file.name, range);
        const source = { extension, bytes: file.bytes, read };
        const tagged = await withTags(source, { ...tags, cover: await readCover(store, cover) });
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
