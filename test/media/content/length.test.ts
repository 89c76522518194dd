import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { audioSeconds } from '../../../src/media/content/length.ts';
import { id3, wavOf } from '../../fixtures/media-samples.ts';
import { mp3 } from '../helpers.ts';

const lengthOf = (content: Uint8Array, contentType = 'audio/mpeg', options = {}) =>
  audioSeconds({ stream: Readable.from([content]), bytes: content.byteLength, contentType }, options);

test('a WAV and an MP3 tell how long they last', async () => {
  expect(await lengthOf(wavOf({ seconds: 2.5 }), 'audio/wav')).toBeCloseTo(2.5, 2);
  // 1152 samples a frame at 44.1 kHz.
  expect(await lengthOf(mp3(100))).toBeCloseTo((100 * 1152) / 44_100, 1);
});

test('tags before the sound change nothing', async () => {
  expect(await lengthOf(Buffer.concat([id3(20_000), mp3(100)]))).toBeCloseTo((100 * 1152) / 44_100, 1);
});

test('an MP3 whose bitrate changes after an even beginning is counted', async () => {
  const loud = Buffer.concat([Buffer.from([0xff, 0xfb, 0xe0, 0x00]), Buffer.alloc(1_040, 0x55)]);
  const song = Buffer.concat([mp3(10), ...Array.from({ length: 100 }, () => loud)]);
  expect(await lengthOf(song)).toBeCloseTo((110 * 1152) / 44_100, 1);
});

test('what is no recording tells no length', async () => {
  expect(await lengthOf(Buffer.from('not a song'))).toBeUndefined();
  expect(await lengthOf(new Uint8Array(0))).toBeUndefined();
});

test('a file that is larger than any recording is not read', async () => {
  const stream = Readable.from([Buffer.alloc(10)]);
  expect(await audioSeconds({ stream, bytes: 40 * 1024 * 1024, contentType: 'audio/wav' })).toBeUndefined();
  expect(stream.destroyed).toBe(true);
});

test('a reader that does not come to an end is ended', async () => {
  expect(await lengthOf(wavOf({ seconds: 2 }), 'audio/wav', { timeoutMs: 0 })).toBeUndefined();
});

test('mutilated files never do harm', async () => {
  const sound = wavOf({ seconds: 0.2 });
  const harm = fc.array(fc.tuple(fc.nat(199), fc.nat(255)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      harm,
      fc.constantFrom('audio/wav', 'audio/mp4', 'audio/ogg', 'audio/mpeg'),
      async (changes, type) => {
        const file = Uint8Array.from(sound);
        for (const [at, value] of changes) file[at] = value;
        const seconds = await lengthOf(file, type);
        expect(seconds === undefined || seconds > 0).toBe(true);
      },
    ),
    { numRuns: 6 },
  );
});
