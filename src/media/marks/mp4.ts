/** Marks in MP4 and its relatives (ISO/IEC 14496-12): XMP and C2PA are in top-level boxes `uuid`, each with its own id. */

import type { SignedMark } from './mark.ts';
import { type FilePart, LONGEST_TEXT, type Provenance } from './provenance.ts';
import { xmpPacket } from './xmp.ts';

/** Reads bytes from `start` to before `end`. */
export type ReadBytes = (start: number, end: number) => Promise<Buffer>;

/** https://github.com/adobe/xmp-docs/blob/master/XMPSpecifications/XMPSpecificationPart3.pdf */
const XMP = 'be7acfcb97a942e89c71999491e3afac';
/** https://spec.c2pa.org/specifications/specifications/2.2/specs/C2PA_Specification.html#_embedding_manifests_into_bmff_based_assets */
const C2PA = 'd8fec3d61b0e483c92975828877ec481';
const ID_BYTES = 16;
/** Files have a handful, fragmented ones some hundreds. */
const MOST_BOXES = 10_000;

/** A box; `content` is the position after its header, and after its id in `uuid` boxes. Their type is the id. */
interface Box extends FilePart {
  readonly content: number;
}

export async function readMp4(bytes: number, read: ReadBytes): Promise<Provenance | undefined> {
  const boxes = await boxesOf(bytes, read);
  if (!boxes) return undefined;
  const texts: string[] = [];
  for (const box of boxes) if (box.type === XMP) texts.push(await textOf(box, read));
  return { c2pa: boxes.some(({ type }) => type === C2PA), texts };
}

/** How a file changes: the type of the box at `free` becomes `free`, so that nothing moves, and `added` follows at the end. */
export interface Mp4Change {
  readonly free: number | undefined;
  readonly added: Buffer;
}

/** Returns how to add the mark. Undefined for incomplete files, and for those whose last box has no length. */
export async function markMp4(
  bytes: number,
  read: ReadBytes,
  mark: SignedMark,
): Promise<Mp4Change | undefined> {
  const boxes = await boxesOf(bytes, read);
  if (!boxes) return undefined;
  const old = boxes.find(({ type }) => type === XMP);
  const packet = Buffer.from(xmpPacket(mark, old && (await textOf(old, read))));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + ID_BYTES + packet.length, 0);
  header.write('uuid', 4, 'latin1');
  return { free: old && old.start + 4, added: Buffer.concat([header, Buffer.from(XMP, 'hex'), packet]) };
}

async function textOf({ content, end }: Box, read: ReadBytes): Promise<string> {
  return end - content > LONGEST_TEXT ? '' : (await read(content, end)).toString();
}

async function boxesOf(bytes: number, read: ReadBytes): Promise<Box[] | undefined> {
  const boxes: Box[] = [];
  for (let start = 0; start < bytes; ) {
    if (start + 8 > bytes || boxes.length >= MOST_BOXES) return undefined;
    const header = await read(start, Math.min(bytes, start + 16 + ID_BYTES));
    const short = header.readUInt32BE(0);
    const isLong = short === 1;
    const headerBytes = isLong ? 16 : 8;
    if (header.length < headerBytes) return undefined;
    const length = isLong ? Number(header.readBigUInt64BE(8)) : short;
    const end = start + length;
    // A length of 0 means up to the end of the file, so nothing could follow.
    if (length < headerBytes || end > bytes) return undefined;
    const name = header.toString('latin1', 4, 8);
    const id = header.subarray(headerBytes, headerBytes + ID_BYTES);
    const isNamedById = name === 'uuid' && id.length === ID_BYTES;
    const content = start + headerBytes + (isNamedById ? ID_BYTES : 0);
    boxes.push({ type: isNamedById ? id.toString('hex') : name, start, end, content });
    start = end;
  }
  return boxes;
}
