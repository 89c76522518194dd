/** The mixer's mathematics: pure functions on samples, the same in a browser and in a test. */

/** Mute and solo as on a mixing desk. `volume` is a gain: 1 leaves the samples as they are. */
/** @typedef {{ volume: number, muted: boolean, soloed: boolean }} Lane */

/**
 * The gain of each lane: while any is soloed only those are heard, and muting wins over soloing.
 * @param {readonly Lane[]} lanes
 * @returns {number[]}
 */
export function gainsOf(lanes) {
  const anySolo = lanes.some(({ soloed, muted }) => soloed && !muted);
  return lanes.map(({ volume, muted, soloed }) => (muted || (anySolo && !soloed) ? 0 : volume));
}

/**
 * Adds samples to a mix, cut to its length.
 * @param {Float32Array} mix
 * @param {Float32Array} samples
 * @param {number} gain
 */
export function addTo(mix, samples, gain) {
  const length = Math.min(mix.length, samples.length);
  for (let index = 0; index < length; index += 1)
    mix[index] = (mix[index] ?? 0) + gain * (samples[index] ?? 0);
}

/**
 * The peaks of `count` equal stretches, from 0 to 1 over all channels, for a waveform.
 * @param {readonly Float32Array[]} channels
 * @param {number} count
 * @returns {Float32Array}
 */
export function peaksOf(channels, count) {
  const peaks = new Float32Array(count);
  for (const samples of channels) {
    const stretch = samples.length / count;
    for (let peak = 0; peak < count; peak += 1) {
      const end = Math.floor((peak + 1) * stretch);
      let loudest = peaks[peak] ?? 0;
      // Every fourth sample draws the same picture.
      for (let index = Math.floor(peak * stretch); index < end; index += 4) {
        const level = Math.abs(samples[index] ?? 0);
        if (level > loudest) loudest = level;
      }
      peaks[peak] = Math.min(1, loudest);
    }
  }
  return peaks;
}

/** Below 1, so that quiet lanes are drawn larger and differ visibly from silent ones. */
const WAVE_EXPONENT = 0.6;

/**
 * The height of each lane's waveform, from 0 to 1. Lanes keep their order of loudness, and the loudest fills its lane.
 * @param {readonly (readonly Float32Array[])[]} lanes the channels of each
 * @param {number} count
 * @returns {Float32Array[]}
 */
export function wavesOf(lanes, count) {
  const peaks = lanes.map((channels) => peaksOf(channels, count));
  const loudest = Math.max(...peaks.map((lane) => lane.reduce((most, peak) => Math.max(most, peak), 0)), 0);
  return peaks.map((lane) => (loudest === 0 ? lane : lane.map((peak) => (peak / loudest) ** WAVE_EXPONENT)));
}

const HEADER_BYTES = 44;

/**
 * A WAV file of 16 bits. A mix that is louder than full scale is made quieter as a whole, so that nothing is clipped.
 * http://soundfile.sapp.org/doc/WaveFormat/
 * @param {readonly Float32Array[]} channels of equal length
 * @param {number} sampleRate in hertz
 * @returns {ArrayBuffer}
 */
export function encodeWav(channels, sampleRate) {
  const frames = channels[0]?.length ?? 0;
  const frameBytes = channels.length * 2;
  const dataBytes = frames * frameBytes;
  const file = new ArrayBuffer(HEADER_BYTES + dataBytes);
  const view = new DataView(file);
  /** @param {number} at @param {string} text */
  const tag = (at, text) => {
    for (let index = 0; index < text.length; index += 1) view.setUint8(at + index, text.charCodeAt(index));
  };
  tag(0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  tag(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels.length, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, 16, true);
  tag(36, 'data');
  view.setUint32(40, dataBytes, true);
  let loudest = 1;
  for (const samples of channels)
    for (const sample of samples) if (Math.abs(sample) > loudest) loudest = Math.abs(sample);
  const scale = 0x7fff / loudest;
  channels.forEach((samples, channel) => {
    for (let frame = 0; frame < frames; frame += 1)
      view.setInt16(
        HEADER_BYTES + frame * frameBytes + channel * 2,
        Math.round((samples[frame] ?? 0) * scale),
        true,
      );
  });
  return file;
}

/**
 * Hertz at which so much audio is held in memory: 44,100 where it fits into the budget, else a lower common rate.
 * @param {number} seconds of all lanes together
 * @param {number} budgetBytes
 */
export function rateThatFits(seconds, budgetBytes) {
  const bytesAt = (/** @type {number} */ rate) => seconds * rate * 2 * Float32Array.BYTES_PER_ELEMENT;
  return [44_100, 32_000, 22_050].find((rate) => bytesAt(rate) <= budgetBytes) ?? 16_000;
}
