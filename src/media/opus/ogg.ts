/** Ogg Opus (RFC 3533 and RFC 7845), as far as a song of packets of 20 ms needs it. */

/** Samples of one packet. Opus counts them at 48 kHz. */
export const PACKET_SAMPLES = 960;

const CAPTURE = 0x4f676753;
const HEADER_BYTES = 27;
const MOST_SEGMENTS = 255;
/** A second on a page: seeking reads no page whose packets it leaves out. */
const PACKETS_ON_PAGE = 50;
const FLAG = { continued: 1, first: 2, last: 4 } as const;
/** The largest page that the format allows; a file that needs more is none. */
const MOST_PAGE_BYTES = HEADER_BYTES + MOST_SEGMENTS + MOST_SEGMENTS * 255;

export interface OpusPacket {
  readonly bytes: Uint8Array;
  /** Samples at 48 kHz that count. Only the last packet of a file may have fewer than it holds. */
  readonly samples: number;
}

export interface OpusStreamFacts {
  /** Samples at 48 kHz that the encoder is ahead by, which players leave out. */
  readonly preSkip: number;
  readonly channels: number;
}

/** A file of one stream. Equal packets make equal files, since files are kept under the hash of their content. */
export async function* writeOggOpus(
  packets: AsyncIterable<OpusPacket> | Iterable<OpusPacket>,
  { preSkip, channels }: OpusStreamFacts,
): AsyncGenerator<Buffer> {
  let sequence = 0;
  let content: Uint8Array[] = [];
  let segments = 0;
  let granule = 0;
  const page = (packets: readonly Uint8Array[], flags: number) =>
    writePage(packets, { granule, flags, sequence: sequence++ });
  yield page([headOf(channels, preSkip)], FLAG.first);
  yield page([tags()], 0);
  for await (const { bytes, samples } of packets) {
    segments += segmentsOf(bytes);
    if (content.length === PACKETS_ON_PAGE || segments > MOST_SEGMENTS) {
      yield page(content, 0);
      content = [];
      segments = segmentsOf(bytes);
    }
    content.push(bytes);
    granule += samples;
  }
  yield page(content, FLAG.last);
}

const segmentsOf = (packet: Uint8Array): number => Math.floor(packet.byteLength / 255) + 1;

/** https://www.rfc-editor.org/rfc/rfc7845#section-5.1 */
function headOf(channels: number, preSkip: number): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(48_000, 12);
  return head;
}

/** https://www.rfc-editor.org/rfc/rfc7845#section-5.2 */
function tags(): Buffer {
  const vendor = Buffer.from('minstrel');
  const head = Buffer.alloc(16 + vendor.length);
  head.write('OpusTags', 'latin1');
  head.writeUInt32LE(vendor.length, 8);
  vendor.copy(head, 12);
  return head;
}

interface PageFacts {
  readonly granule: number;
  readonly flags: number;
  readonly sequence: number;
}

function writePage(packets: readonly Uint8Array[], { granule, flags, sequence }: PageFacts): Buffer {
  const lacing = packets.flatMap((packet) => [
    ...Array.from({ length: segmentsOf(packet) - 1 }, () => 255),
    packet.byteLength % 255,
  ]);
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt32BE(CAPTURE, 0);
  head.writeUInt8(flags, 5);
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(lacing.length, 26);
  const page = Buffer.concat([head, Buffer.from(lacing), ...packets]);
  page.writeUInt32LE(checksum(page), 22);
  return page;
}

/** What each value of a byte adds to the checksum. */
const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

/** CRC-32 with the polynomial 0x04c11db7, not reflected: https://www.rfc-editor.org/rfc/rfc3533#section-6 */
const checksum = (page: Uint8Array): number =>
  page.reduce((crc, byte) => (crc << 8) ^ (CHECKSUMS[(crc >>> 24) ^ byte] ?? 0), 0) >>> 0;

/**
 * The packets of an Ogg Opus file after the first `skip` ones, read as they are needed. Throws RangeError for bytes that are
 * no such file.
 */
export async function* readOggOpus(source: AsyncIterable<Uint8Array>, skip = 0): AsyncGenerator<Buffer> {
  /** The two headers count as packets here. */
  let number = -2;
  let begun: Buffer[] = [];
  for await (const { continued, pieces } of pagesOf(source)) {
    if (!continued) begun = [];
    for (const { bytes, isEnd } of pieces) {
      begun.push(bytes);
      if (!isEnd) continue;
      if (number >= skip) yield begun.length === 1 ? bytes : Buffer.concat(begun);
      else if (number === -2 && !bytes.subarray(0, 8).equals(Buffer.from('OpusHead')))
        throw new RangeError('The file holds no Opus stream');
      begun = [];
      number += 1;
    }
  }
}

interface Page {
  readonly continued: boolean;
  readonly pieces: readonly { readonly bytes: Buffer; readonly isEnd: boolean }[];
}

async function* pagesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Page> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let bytes = pageBytes(rest); bytes !== undefined && bytes <= rest.length; bytes = pageBytes(rest)) {
      yield pageOf(rest.subarray(0, bytes));
      rest = rest.subarray(bytes);
    }
    if (rest.length > MOST_PAGE_BYTES) throw new RangeError('The file holds no Ogg pages');
  }
}

/** How long the page at the beginning is; undefined while too little is known of it. */
function pageBytes(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if (bytes.readUInt32BE(0) !== CAPTURE) throw new RangeError('The file is no Ogg file');
  const body = HEADER_BYTES + bytes.readUInt8(26);
  if (bytes.length < body) return undefined;
  return bytes.subarray(HEADER_BYTES, body).reduce((sum, segment) => sum + segment, body);
}

function pageOf(page: Buffer): Page {
  const segments = page.subarray(HEADER_BYTES, HEADER_BYTES + page.readUInt8(26));
  const pieces: { bytes: Buffer; isEnd: boolean }[] = [];
  let at = HEADER_BYTES + segments.length;
  let length = 0;
  for (const [index, segment] of segments.entries()) {
    length += segment;
    const isEnd = segment < 255;
    if (!isEnd && index < segments.length - 1) continue;
    pieces.push({ bytes: page.subarray(at, at + length), isEnd });
    at += length;
    length = 0;
  }
  return { continued: (page.readUInt8(5) & FLAG.continued) !== 0, pieces };
}
