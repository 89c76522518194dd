import { expect, it } from 'vitest';
import { readPackets, writePackets } from '../../../src/media/opus/packets.ts';
import { bytesOf } from '../helpers.ts';

const LENGTHS = [1, 2, 255, 256, 3_800, ...Array.from({ length: 130 }, (_, n) => 300 + n)];
const packets = LENGTHS.map((length, n) => Buffer.alloc(length, n));
const file = await bytesOf(writePackets(packets));

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

it.each([1, 27, 4_096, 1_000_000])(
  'packets are read back byte for byte in chunks of %i bytes',
  async (size) => {
    expect(await Array.fromAsync(readPackets(inChunks(file, size)))).toEqual(packets);
  },
);

it('starts in the middle, and is empty after the end', async () => {
  expect(await Array.fromAsync(readPackets(inChunks(file, 4_096), 77))).toEqual(packets.slice(77));
  expect(await Array.fromAsync(readPackets(inChunks(file, 4_096), packets.length))).toEqual([]);
});

it('ignores an incomplete packet at the end', async () => {
  const cut = await Array.fromAsync(readPackets(inChunks(file.subarray(0, file.length - 1), 4_096)));
  expect(cut).toEqual(packets.slice(0, -1));
});
