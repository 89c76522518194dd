/** Marks in WebP: https://developers.google.com/speed/webp/docs/riff_container. C2PA is in the chunk `C2PA`. */
import { riffChunk } from '../content/tags.ts';
import type { SignedMark } from './mark.ts';
import { type FilePart, LONGEST_TEXT, type Provenance } from './provenance.ts';
import { xmpPacket } from './xmp.ts';

const RIFF_HEADER_BYTES = 12;
const XMP = 'XMP ';
const HAS_XMP = 0x04;
const HAS_ALPHA = 0x10;

export function readWebp(bytes: Buffer): Provenance | undefined {
  const chunks = chunksOf(bytes);
  return (
    chunks && {
      c2pa: chunks.some(({ type }) => type === 'C2PA'),
      texts: chunks.flatMap((chunk) => (chunk.type === XMP ? [textOf(bytes, chunk)] : [])),
    }
  );
}

/** Returns the parts of the image with the mark. */
export function markWebp(bytes: Buffer, mark: SignedMark): Buffer[] | undefined {
  const chunks = chunksOf(bytes);
  const [first] = chunks ?? [];
  const header = chunks && first && extendedHeader(bytes, first);
  if (!chunks || !header) return undefined;
  const old = chunks.find(({ type }) => type === XMP);
  const packet = Buffer.from(xmpPacket(mark, old && textOf(bytes, old)));
  const rest = chunks.filter(({ type }) => type !== 'VP8X' && type !== XMP);
  const parts = [
    riffChunk('VP8X', header),
    ...rest.map(({ start, end }) => bytes.subarray(start, end)),
    riffChunk(XMP, packet),
  ];
  const riff = Buffer.from(bytes.subarray(0, RIFF_HEADER_BYTES));
  riff.writeUInt32LE(4 + parts.reduce((sum, { length }) => sum + length, 0), 4);
  return [riff, ...parts];
}

/** Returns the header of the extended format, which simple images do not have. */
function extendedHeader(bytes: Buffer, first: FilePart): Buffer | undefined {
  const content = contentOf(bytes, first);
  if (content.length < 10) return undefined;
  const extended = (flags: number, width: number, height: number) => {
    const header = Buffer.alloc(10);
    header.writeUInt8(flags | HAS_XMP, 0);
    header.writeUIntLE(width - 1, 4, 3);
    header.writeUIntLE(height - 1, 7, 3);
    return header;
  };
  switch (first.type) {
    case 'VP8X': {
      const header = Buffer.from(content.subarray(0, 10));
      header.writeUInt8(header.readUInt8(0) | HAS_XMP, 0);
      return header;
    }
    // https://datatracker.ietf.org/doc/html/rfc6386#section-9.1
    case 'VP8 ':
      return extended(0, content.readUInt16LE(6) & 0x3fff, content.readUInt16LE(8) & 0x3fff);
    case 'VP8L': {
      const bits = content.readUInt32LE(1);
      const hasAlpha = (bits >>> 28) & 1 ? HAS_ALPHA : 0;
      return extended(hasAlpha, (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    default:
      return undefined;
  }
}

function chunksOf(bytes: Buffer): FilePart[] | undefined {
  const chunks: FilePart[] = [];
  for (let start = RIFF_HEADER_BYTES; start < bytes.length; ) {
    if (start + 8 > bytes.length) return undefined;
    const length = bytes.readUInt32LE(start + 4);
    const end = start + 8 + length + (length % 2);
    if (end > bytes.length) return undefined;
    chunks.push({ type: bytes.toString('latin1', start, start + 4), start, end });
    start = end;
  }
  return chunks;
}

function textOf(bytes: Buffer, chunk: FilePart): string {
  const content = contentOf(bytes, chunk);
  return content.length > LONGEST_TEXT ? '' : content.toString();
}

function contentOf(bytes: Buffer, { start }: FilePart): Buffer {
  return bytes.subarray(start + 8, start + 8 + bytes.readUInt32LE(start + 4));
}
