import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import OpusScript from 'opusscript';
import { expect, it } from 'vitest';
import { createMp3 } from '../../../src/emulator/studio/synthesizer/codecs.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { createMedia } from '../../../src/media/media.ts';
import { encodeOpus } from '../../../src/media/opus/encode.ts';
import { createOpusEncoder } from '../../../src/media/opus/encoder.ts';
import { readPackets } from '../../../src/media/opus/packets.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import type { MediaStore } from '../../../src/media/store/media-store.ts';
import { fetcherFor, mp3 as frames, temporaryFolder } from '../helpers.ts';

const SECONDS = 0.5;
const RATE = 44_100;

async function tone(hertz: number): Promise<Uint8Array> {
  const sine = (index: number) => Math.round(12_000 * Math.sin((2 * Math.PI * hertz * (index >> 1)) / RATE));
  return (await createMp3())(new Int16Array(2 * RATE * SECONDS).map((_, index) => sine(index)));
}

function mediaOn(store: MediaStore) {
  return createMedia({
    store,
    fetcher: fetcherFor(),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    log: { warn: () => undefined },
    linkTtlSeconds: 3600,
    now: Date.now,
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Upward zero crossings of the left channel, per second. */
function crossings(pcm: Buffer): number {
  const left = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2).filter((_, n) => n % 2 === 0);
  const count = left.filter((value, n) => value > 0 && (left[n - 1] ?? 1) <= 0).length;
  return count / (left.length / 48_000);
}

it('the Opus file has the tone and the length of the MP3 and is stored once', async () => {
  const directory = await temporaryFolder();
  const store = await createFolderStore({ directory, now: Date.now });
  const mp3 = await store.put(once(await tone(440)), { extension: 'mp3' });
  const encoder = createOpusEncoder(mediaOn(store));
  const [opus, again] = await Promise.all([encoder.encode(mp3, 'ada'), encoder.encode(mp3, 'ada')]);
  expect(opus).toMatchObject({ name: expect.stringMatching(/\.packets$/) });
  expect(again).toEqual(opus);

  const packets = await Array.fromAsync(readPackets(once(await readFile(join(directory, opus.name)))));
  // The MP3 encoder pads its frames.
  expect(Math.abs(packets.length - SECONDS * 50)).toBeLessThan(8);
  const decoder = new OpusScript(48_000, 2, OpusScript.Application.AUDIO);
  const pcm = Buffer.concat(packets.slice(5, 22).map((packet) => decoder.decode(packet)));
  decoder.delete();
  expect(crossings(pcm)).toBeCloseTo(440, -1);
  await store.close();
});

it('throws for files without MP3, and continues with the next song', async () => {
  const directory = await temporaryFolder();
  const store = await createFolderStore({ directory, now: Date.now });
  const encoder = createOpusEncoder(mediaOn(store));
  const text = await store.put(once(Buffer.from('no sound at all '.repeat(200))), { extension: 'mp3' });
  await expect(encoder.encode(text, 'ada')).rejects.toMatchObject({ name: 'MediaError', code: 'type' });
  const missing = { name: `${'0'.repeat(64)}.mp3` };
  await expect(encoder.encode(missing, 'ada')).rejects.toMatchObject({ name: 'MediaError', code: 'missing' });
  await writeFile(join(directory, text.name), await tone(330));
  expect(await encoder.encode(text, 'ada')).toMatchObject({ name: expect.stringMatching(/\.packets$/) });
  await store.close();
});

it('a song that is too long is refused before it is encoded', async () => {
  const store = await createFolderStore({ directory: await temporaryFolder(), now: Date.now });
  // MPEG-2.5 at 8 kHz and 8 kbit/s: frames of 72 ms in 72 bytes, so that twenty minutes are read quickly.
  const frame = Buffer.concat([Buffer.from([0xff, 0xe3, 0x18, 0x00]), Buffer.alloc(68, 0x55)]);
  const minutes = Buffer.concat(Array.from({ length: 1_201 / 0.072 }, () => frame));
  const song = await store.put(once(minutes), { extension: 'mp3' });
  const media = mediaOn(store);
  expect(await media.seconds(song.name)).toBeCloseTo(1_201, 0);
  const encoder = createOpusEncoder({ ...media, open: () => Promise.reject(new Error('opened')) });
  await expect(encoder.encode(song, 'ada')).rejects.toMatchObject({ name: 'MediaError', code: 'type' });
  await store.close();
});

it('throws the error of the store if reading the song fails', async () => {
  const store = await createFolderStore({ directory: await temporaryFolder(), now: Date.now });
  const song = await store.put(once(await tone(440)), { extension: 'mp3' });
  const away = new MediaError('store', 'The bucket is away');
  const broken = async function* () {
    yield frames(10);
    throw away;
  };
  const open = async () => ({ stream: Readable.from(broken()), bytes: 1_000, contentType: 'audio/mpeg' });
  const encoder = createOpusEncoder({ ...mediaOn(store), open });
  await expect(encoder.encode(song, 'ada')).rejects.toBe(away);
  await store.close();
});

it('reads an endless song only up to the limit', async () => {
  let read = 0;
  const second = frames(RATE / 1_152);
  const endless = async function* () {
    for (; ; read += 1) yield second;
  };
  await expect(Array.fromAsync(encodeOpus(endless(), 1))).rejects.toThrow(RangeError);
  expect(read).toBeLessThan(4);
});

it('encodes the songs of different people in turns', async () => {
  const opened: string[] = [];
  const open = async (name: string) => {
    opened.push(name);
    return undefined;
  };
  const store = await createFolderStore({ directory: await temporaryFolder(), now: Date.now });
  const encoder = createOpusEncoder({ ...mediaOn(store), seconds: async () => 1, open });
  const encode = (person: string, name: string) => encoder.encode({ name }, person).catch(() => undefined);
  await Promise.all([encode('ada', 'a1'), encode('ada', 'a2'), encode('ada', 'a3'), encode('bob', 'b1')]);
  expect(opened).toEqual(['a1', 'b1', 'a2', 'a3']);
});
