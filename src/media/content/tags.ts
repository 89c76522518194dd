import { ID3Writer } from 'browser-id3-writer';
import type { ByteRange } from '../store/store.ts';

export interface AudioTags {
  title?: string | undefined;
  artist?: string | undefined;
  album?: string | undefined;
  lyrics?: string | undefined;
  /** A picture's bytes: JPEG, PNG, GIF or WebP. */
  cover?: Uint8Array | undefined;
}

/** A kept file as tagging reads it: by parts, so that a long recording is never whole in memory. */
export interface TaggableFile {
  /** Without a dot. */
  extension: string;
  bytes: number;
  read(range: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * The same audio with these tags, and no others: an ID3v2.3 tag before an MP3 which replaces its old ones, an
 * `id3 ` chunk at the end of a WAV. The sound itself is copied byte for byte. Undefined for other types, and for
 * files that are not built as their type asks for.
 *
 * Containers that would have to be taken apart and put together again (M4A, Ogg, FLAC) are left alone: the
 * files come from outside, and a parser that a made-up file can mislead must not run in this process.
 */
export async function withTags(
  file: TaggableFile,
  tags: AudioTags,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  switch (file.extension) {
    case 'mp3':
      return mp3WithTags(file, await id3Tag(tags));
    case 'wav':
      return wavWithTags(file, await id3Tag(tags));
    default:
      return undefined;
  }
}

async function id3Tag({ title, artist, album, lyrics, cover }: AudioTags): Promise<Uint8Array> {
  const writer = new ID3Writer(new ArrayBuffer(0));
  if (title) writer.setFrame('TIT2', title.toWellFormed());
  if (artist) writer.setFrame('TPE1', [artist.toWellFormed()]);
  if (album) writer.setFrame('TALB', album.toWellFormed());
  // XXX is ISO 639-2's word for a language that is not known.
  if (lyrics) writer.setFrame('USLT', { language: 'XXX', description: '', lyrics: lyrics.toWellFormed() });
  if (cover) {
    const frontCover = 3;
    writer.setFrame('APIC', { type: frontCover, data: Uint8Array.from(cover).buffer, description: '' });
  }
  writer.addTag();
  return writer.getBlob().bytes();
}

const id3HeaderBytes = 10;
/** Some tools put a tag before a tag, but not this many. */
const maximumOldTags = 8;

async function mp3WithTags(file: TaggableFile, tag: Uint8Array) {
  let start = 0;
  for (let found = 0; found < maximumOldTags; found += 1) {
    if (start + id3HeaderBytes > file.bytes) return undefined;
    const header = await readAll(file, { start, end: start + id3HeaderBytes - 1 });
    const oldTag = id3TagBytes(header);
    if (oldTag === 0) {
      const end = await endBeforeTags(file, start);
      return concatenate(tag, () => file.read({ start, end: end - 1 }));
    }
    start += oldTag;
  }
  return undefined;
}

const ID3V1_BYTES = 128;
const APE_BYTES = 32;

/** Where the sound ends: before an ID3v1 tag (https://id3.org/ID3v1) and APE tags (https://wiki.hydrogenaudio.org/APEv2). */
async function endBeforeTags(file: TaggableFile, start: number): Promise<number> {
  let end = file.bytes;
  const before = async (bytes: number) =>
    end - bytes <= start ? undefined : readAll(file, { start: end - bytes, end: end - 1 });
  for (let found = 0; found < maximumOldTags; found += 1) {
    const footer = await before(APE_BYTES);
    const size = footer?.toString('latin1', 0, 8) === 'APETAGEX' ? apeTagBytes(footer) : 0;
    if (size > 0 && end - size > start) end -= size;
    else if ((await before(ID3V1_BYTES))?.toString('latin1', 0, 3) === 'TAG') end -= ID3V1_BYTES;
    else break;
  }
  return end;
}

/** The footer tells the size of items and footer, and by its highest bit whether a header of its own size precedes. */
function apeTagBytes(footer: Buffer): number {
  return footer.readUInt32LE(12) + (footer.readUInt32LE(20) >= 0x8000_0000 ? APE_BYTES : 0);
}

/** The length of an ID3v2 tag with this header (https://id3.org/id3v2.4.0-structure, 3.1), or 0 if it is none. */
function id3TagBytes(header: Buffer): number {
  if (header.toString('latin1', 0, 3) !== 'ID3') return 0;
  const hasFooter = (header.readUInt8(5) & 0x10) !== 0;
  const content = [6, 7, 8, 9].reduce((size, at) => size * 128 + (header.readUInt8(at) & 0x7f), 0);
  return id3HeaderBytes + content + (hasFooter ? id3HeaderBytes : 0);
}

const riffHeaderBytes = 12;
const largestRiff = 0xffff_ffff;

async function wavWithTags(file: TaggableFile, tag: Uint8Array) {
  if (file.bytes <= riffHeaderBytes) return undefined;
  const header = await readAll(file, { start: 0, end: riffHeaderBytes - 1 });
  const declared = header.readUInt32LE(4);
  // A recording written while it went on declares no true size: nothing can be said to come after its end.
  if (header.toString('latin1', 0, 4) !== 'RIFF' || declared !== file.bytes - 8) return undefined;
  if (!(await isWhole(file))) return undefined;
  const chunk = riffChunk('id3 ', tag);
  const padding = Buffer.alloc(file.bytes % 2);
  const size = declared + padding.length + chunk.length;
  if (size > largestRiff) return undefined;
  header.writeUInt32LE(size, 4);
  return concatenate(header, () => file.read({ start: riffHeaderBytes }), padding, chunk);
}

const chunkHeaderBytes = 8;
/** Honest files have a handful. */
const maximumChunks = 100;

/**
 * Whether the chunks fill the file to its end, and one of them is sound. A recording that was streamed says that its sound
 * has no length, or the greatest: everything behind it would be played.
 */
async function isWhole(file: TaggableFile): Promise<boolean> {
  let start = riffHeaderBytes;
  let hasSound = false;
  for (let found = 0; start < file.bytes && found < maximumChunks; found += 1) {
    if (start + chunkHeaderBytes > file.bytes) return false;
    const header = await readAll(file, { start, end: start + chunkHeaderBytes - 1 });
    const bytes = header.readUInt32LE(4);
    if (header.toString('latin1', 0, 4) === 'data') {
      if (bytes === 0) return false;
      hasSound = true;
    }
    start += chunkHeaderBytes + bytes + (bytes % 2);
  }
  // The last chunk may lack the byte that pads it.
  return hasSound && (start === file.bytes || start === file.bytes + 1);
}

/** Chunks of odd length are followed by a byte that does not count. */
function riffChunk(type: string, content: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
}

async function readAll(file: TaggableFile, range: Required<ByteRange>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(await file.read(range)));
}

/** A file is opened only when the parts before it were read: one that is never read would stay open. */
async function* concatenate(
  ...parts: (Uint8Array | (() => Promise<AsyncIterable<Uint8Array>>))[]
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) yield part;
    else yield* await part();
  }
}
