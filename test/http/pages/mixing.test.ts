import { describe, expect, test } from 'vitest';
import {
  addTo,
  encodeWav,
  fittingSampleRate,
  gainsOf,
  loudnessOf,
  wavesOf,
} from '../../../src/http/pages/browser/mixing.js';

const lane = (changes = {}) => ({ volume: 1, muted: false, soloed: false, ...changes });

describe('gains', () => {
  test.each([
    ['every lane plays at its volume', [lane(), lane({ volume: 0.25 })], [1, 0.25]],
    ['a muted lane is silent', [lane({ muted: true }), lane()], [0, 1]],
    [
      'only soloed lanes play',
      [lane({ soloed: true, volume: 0.5 }), lane(), lane({ soloed: true })],
      [0.5, 0, 1],
    ],
    ['mute overrides solo', [lane({ soloed: true, muted: true }), lane({ soloed: true })], [0, 1]],
    ['a muted solo lane does not silence others', [lane({ soloed: true, muted: true }), lane()], [0, 1]],
    ['no lanes', [], []],
  ])('%s', (_name, lanes, gains) => {
    expect(gainsOf(lanes)).toEqual(gains);
  });
});

test('adds samples with a gain and keeps the length of the mix', () => {
  const mix = new Float32Array(4);
  addTo(mix, Float32Array.of(0.5, -0.5, 0.25), 1);
  addTo(mix, Float32Array.of(0.5, 0.5, 0.25, 1, 1), 0.5);
  expect([...mix]).toEqual([0.75, -0.25, 0.375, 0.5]);
});

test('opposite stems cancel each other out', () => {
  const samples = Float32Array.from({ length: 1000 }, (_, index) => Math.sin(index / 7));
  const mix = new Float32Array(1000);
  addTo(mix, samples, 0.8);
  addTo(mix, samples, -0.8);
  expect(Math.max(...mix.map(Math.abs))).toBeLessThan(1e-6);
});

test('a waveform has the loudness of each segment over all channels', () => {
  const samples = (...levels: number[]) => Float32Array.from(levels.flatMap((level) => Array(8).fill(level)));
  const [quiet = 0, loud = 0] = loudnessOf([samples(0.1, -0.5), samples(0.1, 0.5)], 2);
  expect([quiet, loud].map((level) => level.toFixed(3))).toEqual(['0.100', '0.500']);
  expect(loudnessOf([samples(0.3), samples(0.4)], 1)[0]).toBeCloseTo(Math.hypot(0.3, 0.4) / Math.sqrt(2), 5);
  expect([...loudnessOf([], 3)]).toEqual([0, 0, 0]);
});

test('scales waveforms to the loudest lane', () => {
  const [loud, quiet, silent] = wavesOf(
    [[Float32Array.of(0.5)], [Float32Array.of(0.05)], [Float32Array.of(0)]],
    1,
  );
  expect([loud?.[0], silent?.[0]]).toEqual([1, 0]);
  expect(quiet?.[0]).toBeCloseTo(0.1, 2);
  expect(wavesOf([[Float32Array.of(0)]], 1)).toEqual([Float32Array.of(0)]);
  // A short peak does not flatten the rest.
  const samples = Float32Array.from({ length: 400 }, (_, index) => (index < 4 ? 1 : 0.25));
  expect([...(wavesOf([[samples]], 100)[0] ?? [])]).toEqual(Array(100).fill(1));
  expect(wavesOf([], 1)).toEqual([]);
});

describe('a WAV file', () => {
  test('has a header and interleaved frames', () => {
    const file = Buffer.from(encodeWav([Float32Array.of(0, 1), Float32Array.of(-1, 0.5)], 44_100));
    expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt32LE(24)]).toEqual([1, 2, 44_100]);
    expect([file.readUInt32LE(28), file.readUInt16LE(32), file.readUInt16LE(34)]).toEqual([176_400, 4, 16]);
    expect([file.toString('latin1', 36, 40), file.readUInt32LE(40)]).toEqual(['data', 8]);
    expect([44, 46, 48, 50].map((at) => file.readInt16LE(at))).toEqual([0, -32_767, 32_767, 16_384]);
  });

  test('is scaled down instead of clipping', () => {
    const file = Buffer.from(encodeWav([Float32Array.of(2, 1, -0.5)], 8_000));
    expect([44, 46, 48].map((at) => file.readInt16LE(at))).toEqual([32_767, 16_384, -8_192]);
  });

  test('without samples is only a header', () => {
    expect(encodeWav([], 44_100).byteLength).toBe(44);
  });
});

test('lowers the sample rate to fit in memory', () => {
  const minute = 60 * 44_100 * 2 * 4;
  expect(fittingSampleRate(60, minute)).toBe(44_100);
  expect(fittingSampleRate(60, minute - 1)).toBe(32_000);
  expect(fittingSampleRate(120, minute)).toBe(22_050);
  expect(fittingSampleRate(6_000, minute)).toBe(16_000);
});
