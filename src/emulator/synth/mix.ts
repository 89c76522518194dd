import { type Pcm, type StemName, type Stems, sampleRate, stemNames } from './recipe.ts';

/** Float channels of equal length. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** Where each stem stands between the ears (-1 to 1) and how much of it echoes (0 to 1). */
const places: Record<StemName, { pan: number; echo: number }> = {
  vocals: { pan: 0, echo: 0.22 },
  backingVocals: { pan: 0.35, echo: 0.35 },
  drums: { pan: 0, echo: 0.05 },
  bass: { pan: 0, echo: 0 },
  guitar: { pan: -0.45, echo: 0.18 },
  keyboard: { pan: 0.3, echo: 0.15 },
  strings: { pan: -0.15, echo: 0.3 },
  synth: { pan: 0.45, echo: 0.3 },
};
const peakLevel = 0.89 * 32767;

/** Puts a mono part in its place: panned with equal power, with an echo that wanders between the ears. */
export function placeStem(name: StemName, mono: Float32Array): Sound {
  const { pan, echo } = places[name];
  const angle = ((pan + 1) * Math.PI) / 4;
  const leftGain = Math.cos(angle) * Math.SQRT2;
  const rightGain = Math.sin(angle) * Math.SQRT2;
  const left = new Float32Array(mono.length);
  const right = new Float32Array(mono.length);
  for (let index = 0; index < mono.length; index++) {
    const sample = mono[index] ?? 0;
    left[index] = sample * leftGain;
    right[index] = sample * rightGain;
  }
  if (echo > 0) {
    addEcho(left, mono, echo, [0.031, 0.173, 0.347]);
    addEcho(right, mono, echo, [0.043, 0.229, 0.401]);
  }
  return { left, right };
}

function addEcho(target: Float32Array, dry: Float32Array, amount: number, delays: readonly number[]): void {
  delays.forEach((delay, index) => {
    const shift = Math.round(delay * sampleRate);
    const gain = amount / (index + 1.2);
    for (let position = shift; position < target.length; position++) {
      target[position] = (target[position] ?? 0) + gain * (dry[position - shift] ?? 0);
    }
  });
}

/** Rounds stems to 16 bits with one gain for all, chosen so that their sum peaks just under full scale. */
export function master(sounds: Readonly<Record<StemName, Sound>>): Stems {
  const length = sounds.drums.left.length;
  // A single stem may be louder than the sum where stems cancel out; it must fit 16 bits too.
  let peak = 1e-9;
  for (const side of ['left', 'right'] as const) {
    const sum = new Float32Array(length);
    for (const name of stemNames) peak = Math.max(peak, addTo(sum, sounds[name][side]));
    peak = Math.max(peak, addTo(new Float32Array(length), sum));
  }
  const gain = peakLevel / peak;
  return mapStems((name) => ({
    left: roundSamples(sounds[name].left, gain),
    right: roundSamples(sounds[name].right, gain),
  }));
}

/** Adds a channel to a sum and returns the channel's own peak. */
function addTo(sum: Float32Array, channel: Float32Array): number {
  let peak = 0;
  for (let index = 0; index < channel.length; index++) {
    const sample = channel[index] ?? 0;
    sum[index] = (sum[index] ?? 0) + sample;
    if (sample > peak) peak = sample;
    else if (-sample > peak) peak = -sample;
  }
  return peak;
}

function roundSamples(channel: Float32Array, gain: number): Int16Array {
  const samples = new Int16Array(channel.length);
  for (let index = 0; index < channel.length; index++) {
    const sample = (channel[index] ?? 0) * gain;
    // Stored as an integer, a number loses its fraction: half a step away from zero rounds it.
    samples[index] = sample < 0 ? sample - 0.5 : sample + 0.5;
  }
  return samples;
}

/** Makes something for every stem name. */
export function mapStems<Value>(make: (name: StemName) => Value): Record<StemName, Value> {
  return {
    vocals: make('vocals'),
    backingVocals: make('backingVocals'),
    drums: make('drums'),
    bass: make('bass'),
    guitar: make('guitar'),
    keyboard: make('keyboard'),
    strings: make('strings'),
    synth: make('synth'),
  };
}

/** The exact sum of the named stems (all when none are named): the song itself. */
export function sumStems(stems: Stems, names: readonly StemName[] = stemNames): Pcm {
  const length = stems.drums.left.length;
  const sum = (side: 'left' | 'right'): Int16Array => {
    const total = new Int16Array(length);
    for (const name of names) {
      const channel = stems[name][side];
      for (let index = 0; index < length; index++) total[index] = (total[index] ?? 0) + (channel[index] ?? 0);
    }
    return total;
  };
  return { left: sum('left'), right: sum('right') };
}

/** Whether a PCM has any sound in it. */
export function isSilent(pcm: Pcm): boolean {
  return !pcm.left.some((sample) => sample !== 0) && !pcm.right.some((sample) => sample !== 0);
}
