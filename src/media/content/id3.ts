/** ID3v2 tags: https://id3.org/id3v2.3.0 and https://id3.org/id3v2.4.0-structure. */
import { ID3Writer } from 'browser-id3-writer';
import { GENERATED, markText, type SignedMark, saysGenerated } from '../marks/mark.ts';
import { LONGEST_TEXT, type Provenance } from '../marks/provenance.ts';

export interface AudioTags {
  readonly title?: string | undefined;
  readonly artist?: string | undefined;
  readonly album?: string | undefined;
  readonly lyrics?: string | undefined;
  /** An image as JPEG, PNG, GIF or WebP. */
  readonly cover?: Uint8Array | undefined;
  /** Left out if the file says already that it was generated. */
  readonly mark?: SignedMark | undefined;
}

export const ID3_HEADER_BYTES = 10;
const FRAME_HEADER_BYTES = 10;
/** Tags are read into memory, with their images. */
export const LONGEST_ID3_BYTES = 16 * 1024 * 1024;

/** Returns the length of the ID3v2 tag with this header, or 0 without a tag. */
export function id3TagBytes(header: Buffer): number {
  if (header.toString('latin1', 0, 3) !== 'ID3') return 0;
  const hasFooter = (header.readUInt8(5) & 0x10) !== 0;
  return ID3_HEADER_BYTES + readSynchsafe(header, 6) + (hasFooter ? ID3_HEADER_BYTES : 0);
}

/**
 * Returns a tag with these fields and the other frames of the old tag. Undefined if the old tag has a C2PA manifest, or cannot be
 * read: ID3v2.2, unsynchronised, or damaged.
 */
export async function mergedId3Tag(
  tags: AudioTags,
  old: Buffer | undefined,
): Promise<Uint8Array | undefined> {
  const known = old === undefined ? [] : framesOf(old);
  if (!known) return undefined;
  const { c2pa, texts } = originOf(known);
  if (c2pa) return undefined;
  const isMarked = texts.some(saysGenerated);
  const set = framesOf(Buffer.from(await id3Tag(isMarked ? { ...tags, mark: undefined } : tags))) ?? [];
  const fields = new Set(set.map(({ id }) => id));
  // Files may hold several texts and comments.
  const frames = [...set, ...known.filter(({ id }) => id === 'TXXX' || id === 'COMM' || !fields.has(id))];
  // Our frames are UTF-16, which both versions support.
  const version = old?.[3] ?? 3;
  const body = Buffer.concat(frames.flatMap((frame) => [frameHeader(frame, version), frame.content]));
  const header = Buffer.from([0x49, 0x44, 0x33, version, 0, 0, 0, 0, 0, 0]);
  writeSynchsafe(header, body.length, 6);
  return Buffer.concat([header, body]);
}

/** Returns what a whole tag says about the origin of the file. Undefined for unsupported tags. */
export function id3Origin(tag: Buffer): Provenance | undefined {
  const frames = framesOf(tag);
  return frames && originOf(frames);
}

function originOf(frames: readonly Frame[]): Provenance {
  return {
    // https://spec.c2pa.org: a general object with this type.
    c2pa: frames.some(
      ({ id, content }) => id === 'GEOB' && C2PA_TYPE.test(content.toString('latin1', 0, 100)),
    ),
    texts: frames.flatMap((frame) => textOf(frame) ?? []),
  };
}

const C2PA_TYPE = /^.application\/(?:x-)?c2pa/s;

/** Returns the content of a text frame, with its description. XMP is in a private frame. */
function textOf({ id, content }: Frame): string | undefined {
  if (content.length > LONGEST_TEXT) return undefined;
  if (id === 'PRIV') return content.indexOf('XMP\0') === 0 ? content.toString('utf8', 4) : undefined;
  if (id !== 'TXXX' && id !== 'COMM') return undefined;
  const isWide = content[0] === 1 || content[0] === 2;
  if (!isWide) return content.toString(content[0] === 3 ? 'utf8' : 'latin1', 1);
  const start = id === 'COMM' ? 4 : 1;
  // A byte order mark precedes each text, in either order.
  const isBig = content[0] === 2 || content[start] === 0xfe;
  return new TextDecoder(isBig ? 'utf-16be' : 'utf-16le').decode(content.subarray(start));
}

interface Frame {
  /** Four letters, such as `TIT2`. */
  readonly id: string;
  readonly flags: number;
  readonly content: Buffer;
}

/** Returns the frames of a whole tag. Undefined for unsupported tags. */
function framesOf(tag: Buffer): Frame[] | undefined {
  if (tag.length < ID3_HEADER_BYTES) return undefined;
  const version = tag[3];
  // Flags: unsynchronised, with an extended header, experimental. A footer repeats the header.
  if ((version !== 3 && version !== 4) || (tag.readUInt8(5) & 0xe0) !== 0) return undefined;
  const end = ID3_HEADER_BYTES + readSynchsafe(tag, 6);
  if (end > tag.length) return undefined;
  const frames: Frame[] = [];
  let at = ID3_HEADER_BYTES;
  // Padding is zeros.
  while (at < end && tag[at] !== 0) {
    if (at + FRAME_HEADER_BYTES > end) return undefined;
    const id = tag.toString('latin1', at, at + 4);
    const bytes = version === 4 ? readSynchsafe(tag, at + 4) : tag.readUInt32BE(at + 4);
    const start = at + FRAME_HEADER_BYTES;
    if (!/^[A-Z0-9]{4}$/.test(id) || start + bytes > end) return undefined;
    frames.push({ id, flags: tag.readUInt16BE(at + 8), content: tag.subarray(start, start + bytes) });
    at = start + bytes;
  }
  return frames;
}

function frameHeader({ id, flags, content }: Frame, version: number): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.write(id, 'latin1');
  if (version === 4) writeSynchsafe(header, content.length, 4);
  else header.writeUInt32BE(content.length, 4);
  header.writeUInt16BE(flags, 8);
  return header;
}

/** Reads 28 bits from four bytes whose highest bits are zero. */
function readSynchsafe(bytes: Buffer, at: number): number {
  return [0, 1, 2, 3].reduce((size, offset) => size * 128 + (bytes.readUInt8(at + offset) & 0x7f), 0);
}

function writeSynchsafe(bytes: Buffer, size: number, at: number): void {
  for (const offset of [0, 1, 2, 3]) bytes.writeUInt8((size >> (7 * (3 - offset))) & 0x7f, at + offset);
}

async function id3Tag({ title, artist, album, lyrics, cover, mark }: AudioTags): Promise<Uint8Array> {
  const writer = new ID3Writer(new ArrayBuffer(0));
  if (title) writer.setFrame('TIT2', title.toWellFormed());
  if (artist) writer.setFrame('TPE1', [artist.toWellFormed()]);
  if (album) writer.setFrame('TALB', album.toWellFormed());
  // XXX means an unknown language in ID3.
  if (lyrics) writer.setFrame('USLT', { language: 'XXX', description: '', lyrics: lyrics.toWellFormed() });
  if (cover) {
    const frontCover = 3;
    writer.setFrame('APIC', { type: frontCover, data: Uint8Array.from(cover).buffer, description: '' });
  }
  if (mark) {
    writer.setFrame('TXXX', { description: 'DigitalSourceType', value: GENERATED });
    if (mark.model)
      writer.setFrame('TXXX', { description: 'AISystemUsed', value: mark.model.toWellFormed() });
    writer.setFrame('TXXX', { description: 'Minstrel', value: mark.id });
    writer.setFrame('COMM', { language: 'eng', description: '', text: markText(mark).toWellFormed() });
  }
  writer.addTag();
  return writer.getBlob().bytes();
}
