import { type Pcm, type StemName, type Stems, sampleRate, stemNames } from './recipe.ts';

/** Stereo, left and right samples alternating, all of the same length. */
export type Sounds = Readonly<Record<StemName, Float32Array>>;

/** The stereo position of each stem (-1 to 1) and its level of echo (0 to 1). */
const positions: Record<StemName, { pan: number; echo: number }> = {
  vocals: { pan: 0, echo: 0.22 },
  backingVocals: { pan: 0.35, echo: 0.35 },
  drums: { pan: 0, echo: 0.05 },
  bass: { pan: 0, echo: 0 },
  guitar: { pan: -0.45, echo: 0.18 },
  keyboard: { pan: 0.3, echo: 0.15 },
  strings: { pan: -0.15, echo: 0.3 },
  synth: { pan: 0.45, echo: 0.3 },
};
/** Delays of the echoes in seconds, left and right. */
const echoSeconds = [
  [0.031, 0.173, 0.347],
  [0.043, 0.229, 0.401],
] as const;
const peakLevel = 0.89 * 32767;

/** Pans a mono part with equal power and adds a stereo echo. */
export function placeStem(name: StemName, mono: Float32Array): Float32Array {
  const { pan, echo } = positions[name];
  const angle = ((pan + 1) * Math.PI) / 4;
  const sound = new Float32Array(2 * mono.length);
  // Some stems are silent for a whole song.
  if (!mono.some((sample) => sample !== 0)) return sound;
  const add = (side: number, gain: number, seconds: number): void => {
    const from = Math.round(seconds * sampleRate);
    for (let index = from; index < mono.length; index++)
      sound[2 * index + side] = (sound[2 * index + side] ?? 0) + gain * (mono[index - from] ?? 0);
  };
  for (const side of [0, 1] as const) {
    add(side, Math.SQRT2 * (side === 0 ? Math.cos(angle) : Math.sin(angle)), 0);
    if (echo === 0) continue;
    echoSeconds[side].forEach((seconds, index) => {
      add(side, echo / (index + 1.2), seconds);
    });
  }
  return sound;
}

/** Creates a value for every stem name. */
export function mapStems<Value>(make: (name: StemName) => Value): Record<StemName, Value> {
  // Safe cast: there is one entry for each name.
  return Object.fromEntries(stemNames.map((name) => [name, make(name)])) as Record<StemName, Value>;
}

/** Rounds stems to 16 bits with a common gain, so that their sum peaks just below full scale. */
export function master(sounds: Sounds): Stems {
  const gain = peakLevel / peakOf(sounds);
  return mapStems((name) => toPcm(sounds[name], gain));
}

/** The loudest sample of the sum and of each stem. */
function peakOf(sounds: Sounds): number {
  const all = stemNames.map((name) => sounds[name]);
  let peak = 1e-9;
  for (let index = 0; index < sounds.drums.length; index++) {
    let sum = 0;
    for (const sound of all) {
      const sample = sound[index] ?? 0;
      sum += sample;
      // A stem may be louder than the sum where stems cancel out. It must fit 16 bits too.
      peak = Math.max(peak, Math.abs(sample));
    }
    peak = Math.max(peak, Math.abs(sum));
  }
  return peak;
}

/** Scales a sound and rounds it to 16 bits, clipping louder samples. */
export function toPcm(sound: Float32Array, gain: number): Pcm {
  const pcm = new Int16Array(sound.length);
  // A loop, because calling a function for each sample takes six times as long.
  for (let index = 0; index < pcm.length; index++) {
    const sample = Math.floor((sound[index] ?? 0) * gain + 0.5);
    pcm[index] = sample > 32767 ? 32767 : sample < -32768 ? -32768 : sample;
  }
  return pcm;
}

/** Returns the exact sum of the named stems, or of all stems. */
export function sumStems(stems: Stems, names: readonly StemName[] = stemNames): Pcm {
  const sum = new Int16Array(stems.drums.length);
  for (const name of names) {
    const stem = stems[name];
    for (let index = 0; index < sum.length; index++) sum[index] = (sum[index] ?? 0) + (stem[index] ?? 0);
  }
  return sum;
}
