/** Resamples audio with a polyphase filter (https://ccrma.stanford.edu/~jos/resample/). */

/** Samples on each side that contribute to a value. More make no audible difference. */
const REACH = 12;
/** The shape of the Kaiser window, for 80 dB of attenuation. */
const BETA = 8;
/** A fraction of half the lower rate. Higher frequencies are removed. */
const CUTOFF = 0.94;
const NO_FILTER = new Float32Array(2 * REACH);

/** Takes the next piece of a channel, or nothing at its end. Returns the samples that are complete at the new rate. */
export type Resampler = (piece?: Float32Array) => Float32Array;

/** Resamples one channel to `to` samples per second. The pieces together have the exact length of the sound. */
export function createResampler(from: number, to: number): Resampler {
  if (from === to) return (piece = new Float32Array()) => piece;
  const divisor = commonDivisor(from, to);
  const [step, phases] = [from / divisor, to / divisor];
  const filters = Array.from({ length: phases }, (_, phase) =>
    filterOf(phase / phases, Math.min(1, to / from)),
  );
  // Silence before and after the sound, so that the inner loop needs no bounds checks.
  let rest = new Float32Array(REACH - 1);
  let phase = 0;
  return (piece = new Float32Array(REACH)) => {
    const sound = new Float32Array(rest.length + piece.length);
    sound.set(rest);
    sound.set(piece, rest.length);
    const out = new Float32Array(Math.ceil((sound.length * to) / from));
    let [at, length] = [0, 0];
    for (; at + 2 * REACH <= sound.length; length += 1) {
      const filter = filters[phase] ?? NO_FILTER;
      let value = 0;
      // Safe cast: both arrays are at least as long as this loop.
      for (let tap = 0; tap < 2 * REACH; tap += 1)
        value += (filter[tap] as number) * (sound[at + tap] as number);
      out[length] = value;
      phase += step;
      while (phase >= phases) {
        phase -= phases;
        at += 1;
      }
    }
    rest = sound.slice(at);
    return out.subarray(0, length);
  };
}

/** Returns the weights of the samples around a point that lies `offset` after the sample before it. */
function filterOf(offset: number, ratio: number): Float32Array {
  const taps = Float32Array.from({ length: 2 * REACH }, (_, tap) => {
    const distance = tap - REACH + 1 - offset;
    return sinc(distance * ratio * CUTOFF) * kaiser(distance / REACH);
  });
  const sum = taps.reduce((total, value) => total + value, 0);
  return taps.map((value) => value / sum);
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const kaiser = (x: number): number =>
  Math.abs(x) >= 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA);

/** The modified Bessel function of order zero, as its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let n = 1; term > sum * 1e-12; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
