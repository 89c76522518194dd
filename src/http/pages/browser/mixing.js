/** Signal processing for the mixer: pure functions on samples. */

/** Mute and solo work as on a mixing desk. `volume` is a gain: 1 leaves samples unchanged. */
/** @typedef {{ volume: number, muted: boolean, soloed: boolean }} Lane */

/**
 * The gain of each lane. While a lane is soloed, only soloed lanes are audible. Mute overrides solo.
 * @param {readonly Lane[]} lanes
 * @returns {number[]}
 */
export function gainsOf(lanes) {
  const anySolo = lanes.some(({ soloed, muted }) => soloed && !muted);
  return lanes.map(({ volume, muted, soloed }) => (muted || (anySolo && !soloed) ? 0 : volume));
}

/**
 * Adds samples to a mix, truncated to its length.
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
 * The loudness of `count` equal segments over all channels, as root mean squares.
 * @param {readonly Float32Array[]} channels
 * @param {number} count
 * @returns {Float32Array}
 */
export function loudnessOf(channels, count) {
  return Float32Array.from({ length: count }, (_, part) => {
    let sum = 0;
    let read = 0;
    for (const samples of channels) {
      const segment = samples.length / count;
      // A quarter of the samples is enough for a waveform.
      for (let index = Math.floor(part * segment); index < Math.floor((part + 1) * segment); index += 4) {
        sum += (samples[index] ?? 0) ** 2;
        read += 1;
      }
    }
    return read === 0 ? 0 : Math.sqrt(sum / read);
  });
}

/** The quantile that has full height, so that a short peak does not flatten everything else. */
const LOUD_QUANTILE = 0.95;

/**
 * The height of each lane's waveform, from 0 to 1, relative to the loudest parts of all lanes.
 * @param {readonly (readonly Float32Array[])[]} lanes the channels of each lane
 * @param {number} count
 * @returns {Float32Array[]}
 */
export function wavesOf(lanes, count) {
  const levels = lanes.map((channels) => loudnessOf(channels, count));
  const loud = Math.max(
    0,
    ...levels.map((lane) => lane.toSorted()[Math.floor(lane.length * LOUD_QUANTILE)] ?? 0),
  );
  return levels.map((lane) => lane.map((level) => (loud === 0 ? 0 : Math.min(1, level / loud))));
}

const HEADER_BYTES = 44;

/**
 * Encodes a 16-bit WAV file. Scales the whole mix down if it exceeds full scale, so that nothing clips.
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
 * The highest common sample rate, in hertz, at which the audio fits in the memory budget.
 * @param {number} seconds total length of all lanes
 * @param {number} budgetBytes
 */
export function fittingSampleRate(seconds, budgetBytes) {
  const bytesAt = (/** @type {number} */ rate) => seconds * rate * 2 * Float32Array.BYTES_PER_ELEMENT;
  return [44_100, 32_000, 22_050].find((rate) => bytesAt(rate) <= budgetBytes) ?? 16_000;
}
