import type { Readable } from 'node:stream';
import type { KeptFile } from '../core/message.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { ByteRange } from '../core/web/files.ts';
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
  /** The name of a kept picture. */
  readonly cover?: string | undefined;
}

export interface MediaOptions extends Pick<System, 'now'> {
  readonly store: MediaStore;
  readonly fetcher: MediaFetcher;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The first signs links, all verify them. */
  readonly secrets: readonly string[];
  readonly linkTtlSeconds: number;
  /** Gets a warning for each song that is kept without tags. */
  readonly log: Pick<Log, 'warn'>;
}

const COVER_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
/** Covers are written into every copy of a song, and held in memory for that. */
const MAXIMUM_COVER_BYTES = 4 * 1024 * 1024;

/** Fetching, checking, keeping and serving of files. Every method that waits may throw MediaError. */
export type Media = ReturnType<typeof createMedia>;

export function createMedia(options: MediaOptions) {
  const { store, fetcher, linkTtlSeconds, now } = options;
  const links = createFileLinks(options.secrets, now);
  /** A signed, expiring address of the file, relative to the root of the listener. `downloadName`: see `safeFileName`. */
  const path = (name: string, { downloadName }: { readonly downloadName: string }): string =>
    links.path({ name, downloadName, expires: Math.floor(now() / 1000) + linkTtlSeconds });

  return {
    /** Fetches a file from an untrusted address, checks its type by its content, and keeps it under its hash. */
    keep: (url: string, expect: FetchExpectation): Promise<KeptFile> =>
      fetcher.fetch(url, expect, (fetched) => store.put(fetched.stream, fetched)),

    /** Checks and keeps bytes that are here already: a picture that came inside an answer, a text made here. */
    async keepBytes(
      data: Uint8Array,
      { kinds, maximumBytes = Infinity }: Pick<FetchExpectation, 'kinds' | 'maximumBytes'>,
    ): Promise<KeptFile> {
      if (data.byteLength > maximumBytes) throw tooLarge(maximumBytes);
      const type = await detectMediaType(data.subarray(0, DETECTION_BYTES), kinds);
      if (type === undefined) {
        throw new MediaError('type', `The content is not a supported ${kinds.join(' or ')} type`);
      }
      return store.put(only(data), type);
    },

    /** Keeps a text made here. */
    keepText: (text: string, extension: 'txt' | 'lrc') =>
      store.put(only(Buffer.from(text, 'utf8')), { extension }),

    /** Keeps Opus packets that were made here. */
    keepOpus: (packets: AsyncIterable<Uint8Array>) => store.put(packets, { extension: 'packets' }),

    /** Keeps a ZIP archive of kept files, in this order and under these names. */
    async archive(entries: readonly { readonly name: string; readonly file: string }[]): Promise<KeptFile> {
      const files = entries.map(({ name, file }) => ({ name, open: () => readKept(store, file) }));
      return store.put(zip(files), { extension: 'zip' });
    },

    /** How long the audio of a kept file lasts, in seconds; undefined when its content does not say. */
    seconds: async (name: string) => audioSeconds(await openKept(store, name)),

    /**
     * The same audio with these tags, as a file of its own; the file itself where tags cannot be written. The cover is
     * left out when it is not kept any more or too large.
     */
    async tag(file: KeptFile, { cover, ...tags }: SongTags): Promise<KeptFile> {
      try {
        const extension = file.name.slice(file.name.lastIndexOf('.') + 1);
        const read = (range: ByteRange) => readKept(store, file.name, range);
        const source = { extension, bytes: file.bytes, read };
        const tagged = await withTags(source, { ...tags, cover: await readCover(store, cover) });
        return tagged === undefined ? file : await store.put(tagged, { extension });
      } catch (error) {
        options.log.warn(
          { err: error, file: file.name },
          'Could not write the tags. The file is stored without them',
        );
        return file;
      }
    },

    open: store.open,
    stat: store.stat,
    remove: store.remove,
    prune: store.prune,
    path,
    /** The same on the public listener. */
    link: (...file: Parameters<typeof path>) => `${options.publicUrl}/${path(...file)}`,
    verifyLink: links.verify,

    async close() {
      await fetcher.close();
      await store.close();
    },
  };
}

async function openKept(store: MediaStore, name: string, range?: ByteRange): Promise<OpenedFile> {
  const opened = await store.open(name, range);
  if (opened === undefined) throw new MediaError('missing', 'The file is no longer available');
  return opened;
}

async function readKept(store: MediaStore, name: string, range?: ByteRange): Promise<Readable> {
  return (await openKept(store, name, range)).stream;
}

async function readCover(store: MediaStore, name: string | undefined): Promise<Uint8Array | undefined> {
  if (name === undefined) return undefined;
  const file = await store.stat(name);
  if (file === undefined || file.bytes > MAXIMUM_COVER_BYTES || !COVER_TYPES.has(file.contentType))
    return undefined;
  return Buffer.concat(await Array.fromAsync(await readKept(store, name)));
}

async function* only(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
