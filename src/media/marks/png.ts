/** Marks in PNG: https://www.w3.org/TR/png-3/#11iTXt. XMP is in the text `XML:com.adobe.xmp`, C2PA in the chunk `caBX`. */
import { crc32, inflateSync } from 'node:zlib';
import { type FilePart, LONGEST_TEXT, type Provenance } from './containers.ts';
import type { SignedMark } from './mark.ts';
import { xmpPacket } from './xmp.ts';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const FRAME_BYTES = 12;
const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);
const KEYWORD = 'XML:com.adobe.xmp';

export function readPng(bytes: Buffer): Provenance | undefined {
  const chunks = chunksOf(bytes);
  return (
    chunks && {
      c2pa: chunks.some(({ type }) => type === 'caBX'),
      texts: chunks.flatMap((chunk) => {
        const found = textOf(bytes, chunk);
        return found ? [`${found.keyword} ${found.text}`] : [];
      }),
    }
  );
}

/** Returns the parts of the image with the mark. */
export function markPng(bytes: Buffer, mark: SignedMark): Buffer[] | undefined {
  const chunks = chunksOf(bytes);
  const [header, ...others] = chunks ?? [];
  if (header?.type !== 'IHDR') return undefined;
  // Libraries also write it as another type of text.
  const isXmp = (chunk: FilePart) => textOf(bytes, chunk)?.keyword === KEYWORD;
  const old = others.find(isXmp);
  const packet = xmpPacket(mark, old && textOf(bytes, old)?.text);
  // No language, not compressed.
  const content = Buffer.from(`${KEYWORD}\0\0\0\0\0${packet}`);
  return [
    bytes.subarray(0, header.end),
    frame('iTXt', content),
    ...others.filter((chunk) => !isXmp(chunk)).map(({ start, end }) => bytes.subarray(start, end)),
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

/** Returns a text with its keyword. Undefined for other chunks. */
function textOf(
  bytes: Buffer,
  chunk: FilePart,
): { readonly keyword: string; readonly text: string } | undefined {
  if (!TEXTS.has(chunk.type)) return undefined;
  const content = contentOf(bytes, chunk);
  const end = content.indexOf(0);
  if (end < 0 || content.length > LONGEST_TEXT) return undefined;
  const keyword = content.toString('latin1', 0, end);
  const rest = content.subarray(end + 1);
  switch (chunk.type) {
    case 'tEXt':
      return { keyword, text: rest.toString() };
    case 'zTXt':
      return { keyword, text: inflated(rest.subarray(1)).toString() };
    default: {
      // Whether it is compressed, and how, then a language and a translated keyword.
      const language = rest.indexOf(0, 2);
      const translated = rest.indexOf(0, language + 1);
      if (language < 0 || translated < 0) return undefined;
      const text = rest.subarray(translated + 1);
      return { keyword, text: (rest[0] === 1 ? inflated(text) : text).toString() };
    }
  }
}

/** Returns nothing for damaged data, or for more than metadata takes. */
function inflated(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: LONGEST_TEXT });
  } catch {
    return Buffer.alloc(0);
  }
}

function frame(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const chunk = Buffer.alloc(8 + body.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), 4 + body.length);
  return chunk;
}
