import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { audioSeconds } from '../../../src/media/content/length.ts';
import { id3, wavOf } from '../../fixtures/media-samples.ts';
import { mp3 } from '../helpers.ts';

const lengthOf = (content: Uint8Array, contentType = 'audio/mpeg', options = {}) =>
  audioSeconds({ stream: Readable.from([content]), bytes: content.byteLength, contentType }, options);

test('returns the length of a WAV and of an MP3', async () => {
  expect(await lengthOf(wavOf({ seconds: 2.5 }), 'audio/wav')).toBeCloseTo(2.5, 2);
  // 1152 samples per frame at 44.1 kHz.
  expect(await lengthOf(mp3(100))).toBeCloseTo((100 * 1152) / 44_100, 1);
});

test('ignores tags before the audio', async () => {
  expect(await lengthOf(Buffer.concat([id3(20_000), mp3(100)]))).toBeCloseTo((100 * 1152) / 44_100, 1);
});

test('counts the frames of an MP3 whose bitrate changes after a constant start', async () => {
  const loud = Buffer.concat([Buffer.from([0xff, 0xfb, 0xe0, 0x00]), Buffer.alloc(1_040, 0x55)]);
  const song = Buffer.concat([mp3(10), ...Array.from({ length: 100 }, () => loud)]);
  expect(await lengthOf(song)).toBeCloseTo((110 * 1152) / 44_100, 1);
});

test('returns no length for other files', async () => {
  expect(await lengthOf(Buffer.from('not a song'))).toBeUndefined();
  expect(await lengthOf(new Uint8Array(0))).toBeUndefined();
});

test('does not read a file larger than any recording', async () => {
  const stream = Readable.from([Buffer.alloc(10)]);
  expect(await audioSeconds({ stream, bytes: 40 * 1024 * 1024, contentType: 'audio/wav' })).toBeUndefined();
  expect(stream.destroyed).toBe(true);
});

test('stops a reader that does not finish', async () => {
  expect(await lengthOf(wavOf({ seconds: 2 }), 'audio/wav', { timeoutMs: 0 })).toBeUndefined();
});

test('damaged files cause no errors', async () => {
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
