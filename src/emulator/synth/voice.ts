import { createRandom } from '../random.ts';
import { wavetable } from './instruments.ts';
import type { SungWord } from './melody.ts';
import { sampleRate } from './recipe.ts';
import { frequencyOf } from './scale.ts';

/** Formant frequencies in hertz and strengths of sung vowels (after Peterson and Barney's averages). */
const vowels = {
  a: [730, 1090, 2440, 1, 0.55, 0.22],
  e: [530, 1840, 2480, 1, 0.38, 0.25],
  i: [290, 2240, 3010, 1, 0.3, 0.22],
  o: [560, 860, 2410, 1, 0.5, 0.1],
  u: [320, 880, 2240, 1, 0.4, 0.08],
} as const satisfies Record<string, readonly [number, number, number, number, number, number]>;
type Vowel = keyof typeof vowels;

/** Who sings: how the throat is shaped, how high the voice lies, and how it shakes. */
export interface Singer {
  /** Scales every formant: below 1 a longer throat. */
  readonly throat: number;
  /** Semitones added to the melody. */
  readonly transpose: number;
  readonly vibrato: number;
}

/** The singer that a voice seed stands for. */
export function chooseSinger(seed: string): Singer {
  const random = createRandom(`singer ${seed}`);
  const high = random.chance(0.5);
  return {
    throat: high ? random.between(1.08, 1.22) : random.between(0.88, 1),
    transpose: high ? 0 : -12,
    vibrato: random.between(0.004, 0.012),
  };
}

/** The vowels of a word in the order they are sung, at least one. */
function vowelsOf(word: string): Vowel[] {
  const groups =
    word
      .toLowerCase()
      .replace(/e\b/, '')
      .match(/[aeiouy]+/g) ??
    word.toLowerCase().match(/e/g) ??
    [];
  const sung = groups.map((group): Vowel => {
    const letter = group.at(0);
    if (letter === 'y') return 'i';
    return letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u'
      ? letter
      : 'a';
  });
  return sung.length === 0 ? ['a'] : sung.slice(0, 4);
}

/**
 * Sings the words into a buffer: a glottal wave through three formant filters, with glides, vibrato and a breath of
 * noise where a word begins with a consonant.
 */
export function sing(
  target: Float32Array,
  words: readonly SungWord[],
  singer: Singer,
  options: { gain: number; interval: number; vowel: Vowel | null },
): void {
  const glottis = wavetable(Array.from({ length: 24 }, (_, index) => 1 / (index + 1) ** 1.1));
  const noise = createRandom('breath');
  const filters = [createFilter(), createFilter(), createFilter()] as const;
  let phase = 0;
  let frequency = frequencyOf((words[0]?.pitch ?? 60) + singer.transpose + options.interval);
  for (const word of words) {
    const syllables = options.vowel === null ? vowelsOf(word.word) : [options.vowel];
    const from = Math.floor(word.start * sampleRate);
    const end = Math.min(target.length, Math.floor(word.end * sampleRate));
    const length = end - from;
    if (length <= 0) continue;
    const goal = frequencyOf(word.pitch + singer.transpose + options.interval);
    const attack = Math.min(length / 3, 0.03 * sampleRate);
    const release = Math.min(length / 3, 0.06 * sampleRate);
    const consonant =
      options.vowel === null && /^[^aeiou]/i.test(word.word) ? Math.min(length / 4, 0.05 * sampleRate) : 0;
    let current: Vowel | null = null;
    for (let index = 0; index < length; index++) {
      const vowel = syllables[Math.floor((index * syllables.length) / length)] ?? 'a';
      if (vowel !== current) {
        current = vowel;
        const [first, second, third, strong, middle, weak] = vowels[vowel];
        filters[0].tune(first * singer.throat, 7, strong);
        filters[1].tune(second * singer.throat, 10, middle);
        filters[2].tune(third * singer.throat, 12, weak);
      }
      const time = (from + index) / sampleRate;
      frequency += (goal - frequency) * 0.0012;
      const shake = 1 + singer.vibrato * Math.min(1, index / 9000) * triangle(5.4 * time);
      phase += (frequency * shake * glottis.length) / sampleRate;
      while (phase >= glottis.length) phase -= glottis.length;
      const breath = noise.next() - 0.5;
      const source = (glottis[phase | 0] ?? 0) + 0.04 * breath;
      let level = 1;
      if (index < attack) level = index / attack;
      if (length - index < release) level = (length - index) / release;
      const voiced = filters[0].run(source) + filters[1].run(source) + filters[2].run(source);
      const burst = index < consonant ? 0.12 * breath * (1 - index / consonant) : 0;
      target[from + index] = (target[from + index] ?? 0) + options.gain * (voiced * level + burst);
    }
  }
}

/** A triangle wave of period 1, between -1 and 1: cheaper than a sine and as good for vibrato. */
function triangle(time: number): number {
  const place = time - Math.floor(time);
  return place < 0.5 ? 4 * place - 1 : 3 - 4 * place;
}

interface Filter {
  tune(frequency: number, quality: number, gain: number): void;
  run(input: number): number;
}

/** A band-pass filter after the Audio EQ Cookbook (constant peak gain), its state kept while it is tuned anew. */
function createFilter(): Filter {
  let b0 = 0;
  let a1 = 0;
  let a2 = 0;
  let x1 = 0;
  let x2 = 0;
  let y1 = 0;
  let y2 = 0;
  return {
    tune(frequency, quality, gain) {
      const angle = (2 * Math.PI * Math.min(frequency, 0.45 * sampleRate)) / sampleRate;
      const alpha = Math.sin(angle) / (2 * quality);
      b0 = (alpha / (1 + alpha)) * gain;
      a1 = (-2 * Math.cos(angle)) / (1 + alpha);
      a2 = (1 - alpha) / (1 + alpha);
    },
    run(input) {
      const output = b0 * (input - x2) - a1 * y1 - a2 * y2;
      x2 = x1;
      x1 = input;
      y2 = y1;
      y1 = output;
      return output;
    },
  };
}
