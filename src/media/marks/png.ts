/** Marks in PNG: https://www.w3.org/TR/png-3/#11iTXt. XMP is in the text `XML:com.adobe.xmp`, C2PA in the chunk `caBX`. */
import { crc32, inflateSync } from 'node:zlib';
import type { SignedMark } from './mark.ts';
import { type FilePart, LONGEST_TEXT, type Provenance } from './provenance.ts';
import { xmpPacket } from './xmp.ts';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const FRAME_BYTES = 12;
const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);
const KEYWORD = 'XML:com.adobe.xmp';
const LONGEST_KEYWORD = 79;

export function readPng(bytes: Buffer): Provenance | undefined {
  const chunks = chunksOf(bytes);
  const inflate = createInflate();
  return (
    chunks && {
      c2pa: chunks.some(({ type }) => type === 'caBX'),
      texts: chunks.flatMap((chunk) => {
        const keyword = keywordOf(bytes, chunk);
        return keyword === undefined ? [] : [`${keyword} ${textOf(bytes, chunk, inflate)}`];
      }),
    }
  );
}

/** Returns the parts of the image with the mark. */
export function markPng(bytes: Buffer, mark: SignedMark): Buffer[] | undefined {
  const chunks = chunksOf(bytes);
  const [header, ...rest] = chunks ?? [];
  if (header?.type !== 'IHDR') return undefined;
  // Libraries also write it as another type of text.
  const isXmp = (chunk: FilePart) => keywordOf(bytes, chunk) === KEYWORD;
  const old = rest.find(isXmp);
  const packet = xmpPacket(mark, old && textOf(bytes, old, createInflate()));
  // No language, not compressed.
  const content = Buffer.from(`${KEYWORD}\0\0\0\0\0${packet}`);
  return [
    bytes.subarray(0, header.end),
    frame('iTXt', content),
    ...rest.filter((chunk) => !isXmp(chunk)).map(({ start, end }) => bytes.subarray(start, end)),
  ];
}

function chunksOf(bytes: Buffer): FilePart[] | undefined {
  const chunks: FilePart[] = [];
  for (let start = SIGNATURE_BYTES; start < bytes.length; ) {
    if (start + FRAME_BYTES > bytes.length) return undefined;
    const end = start + FRAME_BYTES + bytes.readUInt32BE(start);
    if (end > bytes.length) return undefined;
    const type = bytes.toString('latin1', start + 4, start + 8);
    chunks.push({ type, start, end });
    start = end;
    if (type === 'IEND') break;
  }
  return chunks;
}

const contentOf = (bytes: Buffer, { start, end }: FilePart): Buffer => bytes.subarray(start + 8, end - 4);

/** Returns the keyword of a text. Undefined for other chunks. */
function keywordOf(bytes: Buffer, chunk: FilePart): string | undefined {
  if (!TEXTS.has(chunk.type)) return undefined;
  const content = contentOf(bytes, chunk).subarray(0, LONGEST_KEYWORD + 1);
  const end = content.indexOf(0);
  return end < 0 ? undefined : content.toString('latin1', 0, end);
}

/** Returns a text without its keyword; empty if it is damaged or too long. */
function textOf(bytes: Buffer, chunk: FilePart, inflate: Inflate): string {
  const content = contentOf(bytes, chunk);
  if (content.length > LONGEST_TEXT) return '';
  const rest = content.subarray(content.indexOf(0) + 1);
  switch (chunk.type) {
    case 'tEXt':
      return rest.toString();
    case 'zTXt':
      return inflate(rest.subarray(1));
    default: {
      // Whether it is compressed, and how, then a language and a translated keyword.
      const language = rest.indexOf(0, 2);
      const translated = rest.indexOf(0, language + 1);
      if (language < 0 || translated < 0) return '';
      const text = rest.subarray(translated + 1);
      return rest[0] === 1 ? inflate(text) : text.toString();
    }
  }
}

type Inflate = (data: Buffer) => string;

/** All compressed texts of a file together are bounded: small ones may unpack to a thousand times their size. */
function createInflate(): Inflate {
  let left = LONGEST_TEXT;
  return (data) => {
    try {
      const text = inflateSync(data, { maxOutputLength: left });
      left -= text.length;
      return text.toString();
    } catch {
      left = 0;
      return '';
    }
  };
}

function frame(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const chunk = Buffer.alloc(8 + body.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), 4 + body.length);
  return chunk;
}
