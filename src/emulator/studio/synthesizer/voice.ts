import { createRandom } from '../../random.ts';
import { frequencyOf, wavetable } from './instruments.ts';
import type { SungWord } from './melody.ts';
import { type SongRecipe, sampleRate } from './recipe.ts';

/** Formant frequencies in hertz and strengths of sung vowels (after Peterson and Barney's averages). */
const vowels: Readonly<Record<string, readonly number[]>> = {
  a: [730, 1090, 2440, 1, 0.55, 0.22],
  e: [530, 1840, 2480, 1, 0.38, 0.25],
  i: [290, 2240, 3010, 1, 0.3, 0.22],
  o: [560, 860, 2410, 1, 0.5, 0.1],
  u: [320, 880, 2240, 1, 0.4, 0.08],
};
/** How sharp each formant is. */
const qualities = [7, 10, 12] as const;

/** The seed of a song's voice: songs with equal seeds have the same singer. */
export function voiceOf({ voice, title, style, prompt, take }: SongRecipe): string {
  return voice ?? `${title} ${style} ${prompt} ${take}`;
}

/** Who sings a song: how the throat is shaped, how high the voice lies, and how it shakes. */
export function chooseSinger(recipe: SongRecipe) {
  const random = createRandom(`singer ${voiceOf(recipe)}`);
  const isHigh = random.chance(0.5);
  return {
    /** Scales every formant: below 1 a longer throat. */
    throat: isHigh ? random.between(1.08, 1.22) : random.between(0.88, 1),
    /** Semitones added to the melody. */
    transpose: isHigh ? 0 : -12,
    vibrato: random.between(0.004, 0.012),
  };
}

/** The letters of a word's vowels in the order they are sung, at most four. A final e is silent. */
function vowelsOf(word: string): string[] {
  const letters = word.toLowerCase().replace(/(?<=[aeiouy].*)e\b/, '');
  return (
    letters
      .match(/[aeiouy]+/g)
      ?.slice(0, 4)
      .map((group) => group.charAt(0)) ?? ['a']
  );
}

/**
 * Sings the words into a buffer: a glottal wave through three formant filters, with glides, vibrato and a breath of
 * noise where a word begins with a consonant.
 */
export function sing(
  target: Float32Array,
  words: readonly SungWord[],
  singer: ReturnType<typeof chooseSinger>,
  options: { gain: number; interval: number; vowel: string | null },
): void {
  const glottis = wavetable(Array.from({ length: 24 }, (_, index) => 1 / (index + 1) ** 1.1));
  const noise = createRandom('breath');
  const filters = [new Filter(), new Filter(), new Filter()];
  const pitchOf = (word: SungWord): number => frequencyOf(word.pitch + singer.transpose + options.interval);
  let phase = 0;
  let frequency = words[0] === undefined ? 0 : pitchOf(words[0]);
  for (const word of words) {
    const syllables = options.vowel === null ? vowelsOf(word.word) : [options.vowel];
    const from = Math.floor(word.start * sampleRate);
    const length = Math.min(target.length, Math.floor(word.end * sampleRate)) - from;
    const goal = pitchOf(word);
    const attack = Math.min(length / 3, 0.03 * sampleRate);
    const release = Math.min(length / 3, 0.06 * sampleRate);
    const isConsonant = options.vowel === null && /^[^aeiou]/i.test(word.word);
    const consonant = isConsonant ? Math.min(length / 4, 0.05 * sampleRate) : 0;
    let current = '';
    for (let index = 0; index < length; index++) {
      const vowel = syllables[Math.floor((index * syllables.length) / length)] ?? 'a';
      if (vowel !== current) {
        current = vowel;
        const formants: readonly number[] = vowels[vowel] ?? vowels.i ?? [];
        filters.forEach((filter, at) => {
          filter.tune((formants[at] ?? 0) * singer.throat, qualities[at] ?? 1, formants[at + 3] ?? 0);
        });
      }
      frequency += (goal - frequency) * 0.0012;
      const shake = Math.sin((2 * Math.PI * 5.4 * (from + index)) / sampleRate) * Math.min(1, index / 9000);
      phase += (frequency * (1 + singer.vibrato * shake) * glottis.length) / sampleRate;
      if (phase >= glottis.length) phase -= glottis.length;
      const breath = noise.next() - 0.5;
      const source = (glottis[phase | 0] ?? 0) + 0.04 * breath;
      const level = Math.min(1, index / attack, (length - index) / release);
      let voiced = 0;
      for (const filter of filters) voiced += filter.run(source);
      const burst = index < consonant ? 0.12 * breath * (1 - index / consonant) : 0;
      target[from + index] = (target[from + index] ?? 0) + options.gain * (voiced * level + burst);
    }
  }
}

/** A band-pass filter after the Audio EQ Cookbook (constant peak gain), its state kept while it is tuned anew. */
class Filter {
  // Members, since a variable that a closure changes for each sample is a new object each time.
  #b0 = 0;
  #a1 = 0;
  #a2 = 0;
  #x1 = 0;
  #x2 = 0;
  #y1 = 0;
  #y2 = 0;

  tune(frequency: number, quality: number, gain: number): void {
    const angle = (2 * Math.PI * Math.min(frequency, 0.45 * sampleRate)) / sampleRate;
    const alpha = Math.sin(angle) / (2 * quality);
    this.#b0 = (alpha / (1 + alpha)) * gain;
    this.#a1 = (-2 * Math.cos(angle)) / (1 + alpha);
    this.#a2 = (1 - alpha) / (1 + alpha);
  }

  run(input: number): number {
    const output = this.#b0 * (input - this.#x2) - this.#a1 * this.#y1 - this.#a2 * this.#y2;
    this.#x2 = this.#x1;
    this.#x1 = input;
    this.#y2 = this.#y1;
    this.#y1 = output;
    return output;
  }
}
