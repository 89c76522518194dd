/** Marks in JPEG: XMP in a segment APP1, C2PA in segments APP11. https://github.com/adobe/xmp-docs/blob/master/XMPSpecifications */

import type { SignedMark } from './mark.ts';
import type { FilePart, Provenance } from './provenance.ts';
import { xmpPacket } from './xmp.ts';

const HEADER = 'http://ns.adobe.com/xap/1.0/\0';
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP11 = 0xeb;
/** The scan: compressed pixels follow. */
const SOS = 0xda;
const LONGEST_SEGMENT = 0xffff;

export function readJpeg(bytes: Buffer): Provenance | undefined {
  const segments = segmentsOf(bytes);
  return (
    segments && {
      // https://www.iso.org/standard/84635.html: boxes of JUMBF.
      c2pa: segments.some((part) => marker(part) === APP11 && contentOf(bytes, part).includes('c2pa')),
      texts: segments.flatMap((part) => (isXmp(bytes, part) ? [xmpOf(bytes, part)] : [])),
    }
  );
}

/** Returns the parts of the image with the mark. Undefined if the packet does not fit into a segment. */
export function markJpeg(bytes: Buffer, mark: SignedMark): Buffer[] | undefined {
  const segments = segmentsOf(bytes);
  if (!segments) return undefined;
  const old = segments.find((part) => isXmp(bytes, part));
  const packet = Buffer.from(HEADER + xmpPacket(mark, old && xmpOf(bytes, old)));
  if (packet.length + 2 > LONGEST_SEGMENT) return undefined;
  const header = Buffer.from([0xff, APP1, 0, 0]);
  header.writeUInt16BE(packet.length + 2, 2);
  // JFIF and Exif must be first.
  const isFirst = (part: FilePart) => marker(part) === APP0 || (marker(part) === APP1 && !isXmp(bytes, part));
  const firsts = segments.findIndex((part) => !isFirst(part));
  const kept = (parts: readonly FilePart[]) =>
    parts.filter((part) => !isXmp(bytes, part)).map(({ start, end }) => bytes.subarray(start, end));
  const end = segments.at(-1)?.end ?? 2;
  return [
    bytes.subarray(0, 2),
    ...kept(segments.slice(0, firsts)),
    header,
    packet,
    ...kept(segments.slice(firsts)),
    bytes.subarray(end),
  ];
}

/** Returns the segments before the pixels. The type is the marker as a number. */
function segmentsOf(bytes: Buffer): FilePart[] | undefined {
  const segments: FilePart[] = [];
  for (let start = 2; start + 4 <= bytes.length; ) {
    const type = bytes[start + 1];
    if (bytes[start] !== 0xff || type === undefined) return undefined;
    if (type === SOS) return segments;
    const end = start + 2 + bytes.readUInt16BE(start + 2);
    if (end > bytes.length) return undefined;
    segments.push({ type: String(type), start, end });
    start = end;
  }
  return undefined;
}

const marker = ({ type }: FilePart): number => Number(type);
const contentOf = (bytes: Buffer, { start, end }: FilePart): Buffer => bytes.subarray(start + 4, end);
const isXmp = (bytes: Buffer, part: FilePart): boolean =>
  marker(part) === APP1 && contentOf(bytes, part).indexOf(HEADER) === 0;
const xmpOf = (bytes: Buffer, part: FilePart): string =>
  contentOf(bytes, part).toString('utf8', HEADER.length);
