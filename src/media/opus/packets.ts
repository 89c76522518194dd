/** The file format of Opus packets: each one after its length in two bytes. Only our player reads it. */

const LENGTH_BYTES = 2;

export async function* writePackets(
  packets: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  for await (const packet of packets) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(packet.byteLength);
    yield Buffer.concat([length, packet]);
  }
}

/** Yields the packets after the first `skip` ones. Ignores an incomplete last packet. */
export async function* readPackets(source: AsyncIterable<Uint8Array>, skip = 0): AsyncGenerator<Buffer> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readUInt16BE();
      if (rest.length < end) break;
      if (number >= skip) yield rest.subarray(LENGTH_BYTES, end);
      number += 1;
      rest = rest.subarray(end);
    }
  }
}
