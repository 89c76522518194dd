import { createRandom } from '../../random.ts';
import type { Drum, DrumHit, Note } from './composition.ts';
import { sampleRate } from './recipe.ts';

const tableSize = 2048;

/** Returns the frequency of a MIDI pitch in hertz. 69 is 440 Hz. */
export function frequencyOf(pitch: number): number {
  return 440 * 2 ** ((pitch - 69) / 12);
}

/**
 * Returns one cycle of a wave with the given strengths of its partials, the fundamental first. A table avoids Math.sin for
 * each sample.
 */
export function wavetable(partials: readonly number[]): Float32Array {
  const table = Float32Array.from({ length: tableSize }, (_, index) =>
    partials.reduce(
      (sum, strength, partial) =>
        sum + strength * Math.sin((2 * Math.PI * (partial + 1) * index) / tableSize),
      0,
    ),
  );
  const peak = table.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return table.map((value) => value / peak);
}

/** A wave and its envelope: seconds of attack, decay and release. */
interface Tone {
  readonly wave: Float32Array;
  readonly attack: number;
  readonly decay: number;
  readonly release: number;
  readonly gain: number;
  readonly detune?: number;
}

const bowed = {
  wave: wavetable(Array.from({ length: 14 }, (_, index) => Math.exp(-index / 5) / (index + 1))),
  attack: 0.35,
  decay: 8,
  release: 0.5,
  gain: 0.12,
};
/** Each note plays all tones of its instrument. */
const instruments = {
  bass: [{ wave: wavetable([1, 0.45, 0.2, 0.1, 0.05]), attack: 0.006, decay: 0.7, release: 0.05, gain: 0.4 }],
  /** An electric piano: a bell over a soft body. */
  keyboard: [
    { wave: wavetable([1, 0.3, 0.12, 0.03]), attack: 0.004, decay: 0.9, release: 0.25, gain: 0.2 },
    { wave: wavetable([0, 0, 0, 1, 0, 0, 0.5]), attack: 0.002, decay: 0.12, release: 0.1, gain: 0.06 },
  ],
  strings: [bowed, { ...bowed, detune: 0.996 }, { ...bowed, detune: 1.004 }],
  synth: [
    {
      wave: wavetable([1, 0, 0.4, 0, 0.25, 0, 0.15, 0, 0.1]),
      attack: 0.003,
      decay: 0.16,
      release: 0.08,
      gain: 0.42,
    },
  ],
} as const satisfies Record<string, readonly Tone[]>;

/** Plays notes into a buffer. */
export function playTones(
  target: Float32Array,
  notes: readonly Note[],
  instrument: keyof typeof instruments,
  level: number,
): void {
  for (const tone of instruments[instrument]) {
    for (const note of notes) addTone(target, note, { ...tone, gain: tone.gain * level });
  }
}

function addTone(target: Float32Array, note: Note, tone: Tone): void {
  const { wave } = tone;
  const from = Math.floor(note.start * sampleRate);
  const held = Math.floor(note.duration * sampleRate);
  const released = Math.floor(tone.release * sampleRate);
  const attack = Math.max(1, tone.attack * sampleRate);
  const fall = Math.exp(-1 / (tone.decay * sampleRate));
  const step = (frequencyOf(note.pitch) * (tone.detune ?? 1) * tableSize) / sampleRate;
  const end = Math.min(target.length, from + held + released);
  let phase = (note.pitch * 97) % tableSize;
  let level = tone.gain * note.velocity;
  for (let index = from; index < end; index++) {
    const age = index - from;
    let amplitude = level;
    if (age < attack) amplitude *= age / attack;
    if (age > held) amplitude *= 1 - (age - held) / released;
    target[index] = (target[index] ?? 0) + (wave[phase & (tableSize - 1)] ?? 0) * amplitude;
    phase += step;
    if (phase >= tableSize) phase -= tableSize;
    level *= fall;
  }
}

/** Plays notes on a guitar with Karplus-Strong synthesis. */
export function pluckStrings(target: Float32Array, notes: readonly Note[], level: number): void {
  const noise = createRandom('pluck');
  for (const note of notes) {
    const period = Math.max(2, Math.round(sampleRate / frequencyOf(note.pitch)));
    const string = Float32Array.from({ length: period }, () => noise.between(-1, 1));
    const from = Math.floor(note.start * sampleRate);
    const end = Math.min(target.length, from + Math.floor((note.duration + 0.5) * sampleRate));
    for (let index = from; index < end; index++) {
      const position = (index - from) % period;
      const value = string[position] ?? 0;
      string[position] = 0.4975 * (value + (string[(position + 1) % period] ?? 0));
      const fade = Math.min(1, (end - index) / 2000);
      target[index] = (target[index] ?? 0) + value * 0.6 * note.velocity * fade * level;
    }
  }
}

/** The sounds of a drum kit, each a function of the seconds since the hit; `noise` and `hiss` are -1 to 1. */
const drums: Record<Drum, (time: number, noise: () => number, hiss: () => number) => number> = {
  kick(time, _noise, hiss) {
    const phase = 2 * Math.PI * (48 * time + (110 / 28) * (1 - Math.exp(-28 * time)));
    return 0.85 * Math.sin(phase) * Math.exp(-9 * time) + (time < 0.004 ? 0.2 * hiss() : 0);
  },
  snare: (time, noise) =>
    0.32 * Math.sin(2 * Math.PI * 190 * time) * Math.exp(-26 * time) + 0.3 * noise() * Math.exp(-17 * time),
  hat: (time, _noise, hiss) => 0.2 * hiss() * Math.exp(-70 * time),
  openHat: (time, _noise, hiss) => 0.18 * hiss() * Math.exp(-18 * time),
  brush: (time, _noise, hiss) => 0.16 * hiss() * Math.min(1, time * 40) * Math.exp(-14 * time),
};
const drumSeconds = 0.35;

/** Plays drum hits. Each drum is rendered once and copied to every hit. */
export function playDrums(target: Float32Array, hits: readonly DrumHit[], level: number): void {
  const samples = new Map<Drum, Float32Array>();
  for (const { drum, start, velocity } of hits) {
    const sample = samples.get(drum) ?? drumSample(drum);
    samples.set(drum, sample);
    const from = Math.floor(start * sampleRate);
    for (let index = 0; index < Math.min(sample.length, target.length - from); index++) {
      target[from + index] = (target[from + index] ?? 0) + (sample[index] ?? 0) * velocity * level;
    }
  }
}

function drumSample(drum: Drum): Float32Array {
  const random = createRandom(drum);
  const noise = (): number => random.between(-1, 1);
  let previous = 0;
  const hiss = (): number => {
    const before = previous;
    previous = noise();
    return previous - before;
  };
  return Float32Array.from({ length: drumSeconds * sampleRate }, (_, index) =>
    drums[drum](index / sampleRate, noise, hiss),
  );
}
