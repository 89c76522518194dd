/** Reads and writes marks in stored files of every type that can hold them. */
import { id3Origin } from '../content/id3.ts';
import { id3TagOf, readAll, type StoredBytes } from '../content/tags.ts';
import { markJpeg, readJpeg } from './jpeg.ts';
import { type SignedMark, saysGenerated } from './mark.ts';
import { markMp4, type ReadBytes, readMp4 } from './mp4.ts';
import { markPng, readPng } from './png.ts';
import type { Provenance } from './provenance.ts';
import { markWebp, readWebp } from './webp.ts';

/** Images are changed in memory. Larger ones are left as they are. */
const LARGEST_IMAGE = 64 * 1024 * 1024;

const IMAGES: Readonly<
  Record<
    string,
    {
      readonly read: (bytes: Buffer) => Provenance | undefined;
      readonly mark: (bytes: Buffer, mark: SignedMark) => Buffer[] | undefined;
    }
  >
> = {
  png: { read: readPng, mark: markPng },
  jpg: { read: readJpeg, mark: markJpeg },
  webp: { read: readWebp, mark: markWebp },
};

/** MP4 and its relatives. */
const MOVIES: ReadonlySet<string> = new Set(['mp4', 'm4v', 'mov', 'm4a']);

/** False for damaged files, and for files that say that a model generated them. A C2PA manifest would no longer fit. */
const canMark = (found: Provenance | undefined): boolean =>
  found !== undefined && !found.c2pa && !found.texts.some(saysGenerated);

/** Returns what a file says about its origin. Undefined for types that are not read, and for damaged files. */
export async function provenanceOf(file: StoredBytes): Promise<Provenance | undefined> {
  if (MOVIES.has(file.extension)) return readMp4(file.bytes, readerOf(file));
  const image = IMAGES[file.extension];
  if (image) {
    const bytes = await wholeOf(file);
    return bytes && image.read(bytes);
  }
  const found = await id3TagOf(file);
  if (!found) return undefined;
  const origin = found.tag && id3Origin(found.tag);
  return { c2pa: found.c2pa || (origin?.c2pa ?? false), texts: origin?.texts ?? [] };
}

/** Returns an image or a video with the mark. Undefined if it has one, and for files that cannot be marked. */
export async function withMark(
  file: StoredBytes,
  mark: SignedMark,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const image = IMAGES[file.extension];
  if (image) {
    const bytes = await wholeOf(file);
    const parts = bytes && canMark(image.read(bytes)) ? image.mark(bytes, mark) : undefined;
    return parts && inOrder(parts);
  }
  if (!MOVIES.has(file.extension)) return undefined;
  const read = readerOf(file);
  const change = canMark(await readMp4(file.bytes, read)) && (await markMp4(file.bytes, read, mark));
  return change ? movie(file, change) : undefined;
}

async function* movie(
  file: StoredBytes,
  { free, added }: { readonly free: number | undefined; readonly added: Buffer },
): AsyncGenerator<Uint8Array> {
  if (free === undefined) yield* await file.read({ start: 0, end: file.bytes - 1 });
  else {
    yield* await file.read({ start: 0, end: free - 1 });
    yield Buffer.from('free', 'latin1');
    yield* await file.read({ start: free + 4, end: file.bytes - 1 });
  }
  yield added;
}

async function* inOrder(parts: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

async function wholeOf(file: StoredBytes): Promise<Buffer | undefined> {
  return file.bytes > LARGEST_IMAGE ? undefined : readAll(file, { start: 0, end: file.bytes - 1 });
}

const readerOf =
  (file: StoredBytes): ReadBytes =>
  (start, end) =>
    readAll(file, { start, end: end - 1 });
