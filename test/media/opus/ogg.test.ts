import { BufferSource, EncodedPacketSink, Input, OGG } from 'mediabunny';
import { expect, it } from 'vitest';
import { PACKET_SAMPLES, readOggOpus, writeOggOpus } from '../../../src/media/opus/ogg.ts';

/** Around the lengths at which a packet takes one segment more, and more of them than one page holds. */
const LENGTHS = [1, 254, 255, 256, 509, 510, 511, 3_800, ...Array.from({ length: 130 }, (_, n) => 300 + n)];
/** A valid first byte (stereo, 20 ms, one frame), then what tells the packets apart. */
const packets = LENGTHS.map((length, n) => Buffer.concat([Buffer.from([0xfc]), Buffer.alloc(length - 1, n)]));
const SAMPLES_OF_LAST = 272;
const file = await fileOf(packets);

/** Of the last packet, only a part counts. */
async function fileOf(packets: readonly Buffer[]): Promise<Buffer> {
  const counted = packets.map((bytes, n) => ({
    bytes,
    samples: n < packets.length - 1 ? PACKET_SAMPLES : SAMPLES_OF_LAST,
  }));
  return Buffer.concat(await Array.fromAsync(writeOggOpus(counted, { preSkip: 312, channels: 2 })));
}

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

it.each([27, 4_096, 1_000_000])('packets come back byte for byte, in chunks of %i bytes', async (size) => {
  expect(await Array.fromAsync(readOggOpus(inChunks(file, size)))).toEqual(packets);
});

it('packets come back byte for byte, in chunks of one byte', async () => {
  const few = packets.slice(0, 12);
  expect(await Array.fromAsync(readOggOpus(inChunks(await fileOf(few), 1)))).toEqual(few);
});

it('another reader finds the same packets, and the length of the sound', async () => {
  using input = new Input({ formats: [OGG], source: new BufferSource(file) });
  const track = await input.getPrimaryAudioTrack();
  if (!track) throw new Error('No track');
  const found = await Array.fromAsync(new EncodedPacketSink(track).packets());
  expect(found.map(({ data }) => Buffer.from(data))).toEqual(packets);
  const samples = (packets.length - 1) * PACKET_SAMPLES + SAMPLES_OF_LAST;
  expect(await input.computeDuration()).toBeCloseTo(samples / 48_000, 1);
});

it('goes on in the middle, and has nothing behind its end', async () => {
  expect(await Array.fromAsync(readOggOpus(inChunks(file, 4_096), 77))).toEqual(packets.slice(77));
  expect(await Array.fromAsync(readOggOpus(inChunks(file, 4_096), packets.length))).toEqual([]);
});

it('ends where a file was cut off, with the whole packets before that', async () => {
  const cut = await Array.fromAsync(readOggOpus(inChunks(file.subarray(0, file.length - 2_000), 4_096)));
  expect(cut).toEqual(packets.slice(0, cut.length));
  expect(cut.length).toBeGreaterThan(80);
});

it.each([
  ['an MP3', Buffer.alloc(4_000, 0xff)],
  ['Ogg of something else', Buffer.from(file.toString('latin1').replace('OpusHead', 'FlacHead'), 'latin1')],
])('refuses %s', async (_, bytes) => {
  await expect(Array.fromAsync(readOggOpus(inChunks(bytes, 1_000)))).rejects.toThrow(RangeError);
});
