import { createRandom } from '../random.ts';
import type { DrumHit, Note } from './composition.ts';
import { sampleRate } from './recipe.ts';
import { frequencyOf } from './scale.ts';

/** One cycle of a wave as a table, so that no oscillator calls Math.sin a sample. */
type Wavetable = Float32Array;
const tableSize = 2048;

/** A wave with the given strengths of its partials, the fundamental first. */
export function wavetable(partials: readonly number[]): Wavetable {
  const table = new Float32Array(tableSize);
  let peak = 0;
  for (let index = 0; index < tableSize; index++) {
    let value = 0;
    partials.forEach((strength, partial) => {
      value += strength * Math.sin((2 * Math.PI * (partial + 1) * index) / tableSize);
    });
    table[index] = value;
    peak = Math.max(peak, Math.abs(value));
  }
  for (let index = 0; index < tableSize; index++) table[index] = (table[index] ?? 0) / peak;
  return table;
}

const sawPartials = Array.from({ length: 14 }, (_, index) => 1 / (index + 1));

interface Envelope {
  readonly attack: number;
  readonly decay: number;
  readonly release: number;
}

function addTone(
  target: Float32Array,
  note: Note,
  table: Wavetable,
  envelope: Envelope,
  gain: number,
  detune = 1,
): void {
  const from = Math.floor(note.start * sampleRate);
  const held = Math.floor(note.duration * sampleRate);
  const released = Math.floor(envelope.release * sampleRate);
  const attack = Math.max(1, envelope.attack * sampleRate);
  const fall = Math.exp(-1 / (envelope.decay * sampleRate));
  const step = (frequencyOf(note.pitch) * detune * tableSize) / sampleRate;
  const end = Math.min(target.length, from + held + released);
  let phase = (note.pitch * 97) % tableSize;
  let level = gain * note.velocity;
  for (let index = from; index < end; index++) {
    const age = index - from;
    let amplitude = level;
    if (age < attack) amplitude *= age / attack;
    if (age > held) amplitude *= 1 - (age - held) / released;
    target[index] = (target[index] ?? 0) + (table[phase & (tableSize - 1)] ?? 0) * amplitude;
    phase += step;
    if (phase >= tableSize) phase -= tableSize;
    level *= fall;
  }
}

/** Bass: round, plucked. */
export function playBass(target: Float32Array, notes: readonly Note[]): void {
  const table = wavetable([1, 0.45, 0.2, 0.1, 0.05]);
  for (const note of notes) addTone(target, note, table, { attack: 0.006, decay: 0.7, release: 0.05 }, 0.4);
}

/** Electric piano: a bell over a soft body. */
export function playKeyboard(target: Float32Array, notes: readonly Note[]): void {
  const body = wavetable([1, 0.3, 0.12, 0.03]);
  const bell = wavetable([0, 0, 0, 1, 0, 0, 0.5]);
  for (const note of notes) {
    addTone(target, note, body, { attack: 0.004, decay: 0.9, release: 0.25 }, 0.2);
    addTone(target, note, bell, { attack: 0.002, decay: 0.12, release: 0.1 }, 0.06);
  }
}

/** Strings: three slightly detuned saws with a slow bow. */
export function playStrings(target: Float32Array, notes: readonly Note[]): void {
  const table = wavetable(sawPartials.map((strength, index) => strength * Math.exp(-index / 5)));
  for (const note of notes) {
    for (const detune of [0.996, 1, 1.004]) {
      addTone(target, note, table, { attack: 0.35, decay: 8, release: 0.5 }, 0.12, detune);
    }
  }
}

/** Synthesizer: short bright plucks. */
export function playSynth(target: Float32Array, notes: readonly Note[]): void {
  const table = wavetable([1, 0, 0.4, 0, 0.25, 0, 0.15, 0, 0.1]);
  for (const note of notes) addTone(target, note, table, { attack: 0.003, decay: 0.16, release: 0.08 }, 0.42);
}

/** Guitar: a plucked string after Karplus and Strong. */
export function playGuitar(target: Float32Array, notes: readonly Note[]): void {
  const noise = createRandom('pluck');
  for (const note of notes) {
    const period = Math.max(2, Math.round(sampleRate / frequencyOf(note.pitch)));
    const string = Float32Array.from({ length: period }, () => noise.between(-1, 1));
    const from = Math.floor(note.start * sampleRate);
    const length = Math.floor((note.duration + 0.5) * sampleRate);
    const end = Math.min(target.length, from + length);
    let position = 0;
    for (let index = from; index < end; index++) {
      const following = position + 1 === period ? 0 : position + 1;
      const value = string[position] ?? 0;
      string[position] = 0.4975 * (value + (string[following] ?? 0));
      const fade = Math.min(1, (end - index) / 2000);
      target[index] = (target[index] ?? 0) + value * 0.6 * note.velocity * fade;
      position = following;
    }
  }
}

/** Drums: each drum is made once and laid down at every hit. */
export function playDrums(target: Float32Array, hits: readonly DrumHit[]): void {
  const samples: Partial<Record<DrumHit['drum'], Float32Array>> = {};
  for (const hit of hits) {
    samples[hit.drum] ??= drumSample(hit.drum);
    const sample = samples[hit.drum] ?? new Float32Array();
    const from = Math.floor(hit.start * sampleRate);
    const length = Math.min(sample.length, target.length - from);
    for (let index = 0; index < length; index++) {
      target[from + index] = (target[from + index] ?? 0) + (sample[index] ?? 0) * hit.velocity;
    }
  }
}

function drumSample(drum: DrumHit['drum']): Float32Array {
  const noise = createRandom(drum);
  const make = (seconds: number, sampleAt: (time: number) => number): Float32Array =>
    Float32Array.from({ length: Math.floor(seconds * sampleRate) }, (_, index) =>
      sampleAt(index / sampleRate),
    );
  let previous = 0;
  const hiss = (): number => {
    const value = noise.between(-1, 1);
    const high = value - previous;
    previous = value;
    return high;
  };
  switch (drum) {
    case 'kick':
      return make(0.35, (time) => {
        const phase = 2 * Math.PI * (48 * time + (110 / 28) * (1 - Math.exp(-28 * time)));
        return 0.85 * Math.sin(phase) * Math.exp(-9 * time) + (time < 0.004 ? 0.2 * hiss() : 0);
      });
    case 'snare':
      return make(
        0.25,
        (time) =>
          0.32 * Math.sin(2 * Math.PI * 190 * time) * Math.exp(-26 * time) +
          0.3 * noise.between(-1, 1) * Math.exp(-17 * time),
      );
    case 'hat':
      return make(0.07, (time) => 0.2 * hiss() * Math.exp(-70 * time));
    case 'open-hat':
      return make(0.22, (time) => 0.18 * hiss() * Math.exp(-18 * time));
    case 'brush':
      return make(0.3, (time) => 0.16 * hiss() * Math.min(1, time * 40) * Math.exp(-14 * time));
    default:
      return drum satisfies never;
  }
}
