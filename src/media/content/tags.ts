import type { ByteRange } from '../../core/web/files.ts';
import { type AudioTags, ID3_HEADER_BYTES, id3TagBytes, LONGEST_ID3_BYTES, mergedId3Tag } from './id3.ts';

/** A stored file that is read in parts, so that long recordings don't fill the memory. */
export interface StoredBytes {
  /** Without a dot. */
  readonly extension: string;
  readonly bytes: number;
  read(range: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Returns the same audio with these tags: an ID3v2 tag before an MP3, an `id3 ` chunk at the end of a WAV. Keeps other
 * frames of the file. Copies the audio byte for byte. Undefined for other types, for invalid files, and for files with a C2PA
 * manifest, whose signature covers the whole file.
 *
 * M4A, Ogg and FLAC are not supported: they need a full parser, and untrusted files must not reach one in this process.
 */
export async function withTags(
  file: StoredBytes,
  tags: AudioTags,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  switch (file.extension) {
    case 'mp3':
      return mp3WithTags(file, tags);
    case 'wav':
      return wavWithTags(file, tags);
    default:
      return undefined;
  }
}

const ID3V1_BYTES = 128;

async function mp3WithTags(file: StoredBytes, tags: AudioTags) {
  const old = await mp3Tag(file);
  const start = old?.length ?? 0;
  if (!old || start >= file.bytes) return undefined;
  const tag = await mergedId3Tag(tags, start === 0 ? undefined : old);
  if (tag === undefined) return undefined;
  // ID3v1 (https://id3.org/ID3v1) contains only a title and an artist, which would contradict ours.
  const tail = await readAll(file, { start: Math.max(start, file.bytes - ID3V1_BYTES), end: file.bytes - 1 });
  const isTail = tail.length === ID3V1_BYTES && tail.toString('latin1', 0, 3) === 'TAG';
  const end = file.bytes - (isTail ? ID3V1_BYTES : 0);
  return concatenate(tag, () => file.read({ start, end: end - 1 }));
}

/** Returns the ID3v2 tag of an MP3, empty if it has none. Undefined for damaged files, and for tags that are too long. */
async function mp3Tag(file: StoredBytes): Promise<Buffer | undefined> {
  if (file.bytes < ID3_HEADER_BYTES) return undefined;
  const bytes = id3TagBytes(await readAll(file, { start: 0, end: ID3_HEADER_BYTES - 1 }));
  if (bytes > Math.min(LONGEST_ID3_BYTES, file.bytes)) return undefined;
  return bytes === 0 ? Buffer.alloc(0) : readAll(file, { start: 0, end: bytes - 1 });
}

const RIFF_HEADER_BYTES = 12;
const LARGEST_RIFF = 0xffff_ffff;

async function wavWithTags(file: StoredBytes, tags: AudioTags) {
  if (file.bytes <= RIFF_HEADER_BYTES) return undefined;
  const header = await readAll(file, { start: 0, end: RIFF_HEADER_BYTES - 1 });
  // A streamed recording has no valid size, so no chunk can be added after its end.
  if (header.toString('latin1', 0, 4) !== 'RIFF' || header.readUInt32LE(4) !== file.bytes - 8)
    return undefined;
  const chunks = await chunksOf(file);
  if (!chunks || chunks.some(({ type }) => type === 'C2PA')) return undefined;
  const [found, ...duplicates] = chunks.filter(isTag);
  if (duplicates.length > 0) return undefined;
  const old = found && (await contentOf(file, found));
  const tag = await mergedId3Tag(tags, old);
  if (tag === undefined) return undefined;
  const remaining = chunks.filter((chunk) => !isTag(chunk));
  const added = riffChunk('id3 ', tag);
  const size = remaining.reduce(
    (sum, { bytes }) => sum + CHUNK_HEADER_BYTES + bytes + (bytes % 2),
    4 + added.length,
  );
  if (size > LARGEST_RIFF) return undefined;
  header.writeUInt32LE(size, 4);
  const parts = remaining.flatMap(({ start, bytes }) => [
    () => file.read({ start: start - CHUNK_HEADER_BYTES, end: start + bytes - 1 }),
    Buffer.alloc(bytes % 2),
  ]);
  return concatenate(header, ...parts, added);
}

const isTag = ({ type, bytes }: Chunk) => type.toLowerCase() === 'id3 ' && bytes <= LONGEST_ID3_BYTES;

/** Returns the ID3v2 tag of an MP3 or a WAV, and whether there is a C2PA manifest next to it. Undefined as for `withTags`. */
export async function id3TagOf(
  file: StoredBytes,
): Promise<{ tag: Buffer | undefined; c2pa: boolean } | undefined> {
  switch (file.extension) {
    case 'mp3': {
      const tag = await mp3Tag(file);
      return tag && { tag: tag.length === 0 ? undefined : tag, c2pa: false };
    }
    case 'wav': {
      const chunks = await chunksOf(file);
      const found = chunks?.find(isTag);
      return (
        chunks && {
          tag: found && (await contentOf(file, found)),
          c2pa: chunks.some(({ type }) => type === 'C2PA'),
        }
      );
    }
    default:
      return undefined;
  }
}

const CHUNK_HEADER_BYTES = 8;
/** Valid files have a handful. */
const MAXIMUM_CHUNKS = 100;

interface Chunk {
  readonly type: string;
  /** The position of its content. */
  readonly start: number;
  readonly bytes: number;
}

/**
 * Returns the chunks of a WAV. Undefined if they don't fill the file, or without audio. Streamed recordings declare a length
 * of zero or the maximum, so players would play added chunks.
 */
async function chunksOf(file: StoredBytes): Promise<Chunk[] | undefined> {
  const chunks: Chunk[] = [];
  let start = RIFF_HEADER_BYTES;
  while (start < file.bytes && chunks.length < MAXIMUM_CHUNKS) {
    if (start + CHUNK_HEADER_BYTES > file.bytes) return undefined;
    const header = await readAll(file, { start, end: start + CHUNK_HEADER_BYTES - 1 });
    const bytes = header.readUInt32LE(4);
    chunks.push({ type: header.toString('latin1', 0, 4), start: start + CHUNK_HEADER_BYTES, bytes });
    start += CHUNK_HEADER_BYTES + bytes + (bytes % 2);
  }
  const hasSound = chunks.some(({ type, bytes }) => type === 'data' && bytes > 0);
  // The last chunk may have no padding byte.
  return hasSound && (start === file.bytes || start === file.bytes + 1) ? chunks : undefined;
}

const contentOf = (file: StoredBytes, { start, bytes }: Chunk): Promise<Buffer> =>
  readAll(file, { start, end: start + bytes - 1 });

/** Chunks of odd length have a padding byte, which the length does not include. */
export function riffChunk(type: string, content: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
}

export async function readAll(file: StoredBytes, range: Required<ByteRange>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(await file.read(range)));
}

/** Opens a file only after the parts before it, because a file that is never read would stay open. */
async function* concatenate(
  ...parts: (Uint8Array | (() => Promise<AsyncIterable<Uint8Array>>))[]
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part;
    else yield* await part();
  }
}
