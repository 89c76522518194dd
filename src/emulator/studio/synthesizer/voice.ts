import { createRandom } from '../../random.ts';
import { frequencyOf, wavetable } from './instruments.ts';
import type { SungWord } from './melody.ts';
import { type SongRecipe, sampleRate } from './recipe.ts';

/** Formant frequencies in hertz and strengths of vowels (averages of Peterson and Barney). */
const vowels: Readonly<Record<string, readonly number[]>> = {
  a: [730, 1090, 2440, 1, 0.55, 0.22],
  e: [530, 1840, 2480, 1, 0.38, 0.25],
  i: [290, 2240, 3010, 1, 0.3, 0.22],
  o: [560, 860, 2410, 1, 0.5, 0.1],
  u: [320, 880, 2240, 1, 0.4, 0.08],
};
const glottis = wavetable(Array.from({ length: 24 }, (_, index) => 1 / (index + 1) ** 1.1));
/** The sharpness of each formant. */
const qualities = [7, 10, 12] as const;

/** Returns the seed of a song's voice. Songs with equal seeds have the same singer. */
export function voiceOf({ voice, title, style, prompt, take }: SongRecipe): string {
  return voice ?? `${title} ${style} ${prompt} ${take}`;
}

/** Returns a singer: formants, pitch range and vibrato. */
export function chooseSinger(recipe: SongRecipe) {
  const random = createRandom(`singer ${voiceOf(recipe)}`);
  const isHigh = random.chance(0.5);
  return {
    /** Scales every formant. Values below 1 mean a longer throat. */
    throat: isHigh ? random.between(1.08, 1.22) : random.between(0.88, 1),
    /** Semitones added to the melody. */
    transpose: isHigh ? 0 : -12,
    vibrato: random.between(0.004, 0.012),
  };
}

/** Returns up to four vowels of a word in their order. A final e is silent. */
function vowelsOf(word: string): string[] {
  const letters = word.toLowerCase().replace(/^([^aeiouy]*[aeiouy].*)e\b/, '$1');
  return (
    letters
      .match(/[aeiouy]+/g)
      ?.slice(0, 4)
      .map((group) => group.charAt(0)) ?? ['a']
  );
}

/**
 * Sings the words into a buffer: a glottal wave through three formant filters, with glides, vibrato and a short noise where
 * a word begins with a consonant.
 */
export function sing(
  target: Float32Array,
  words: readonly SungWord[],
  singer: ReturnType<typeof chooseSinger>,
  options: { gain: number; interval: number; vowel: string | null },
): void {
  const noise = createRandom('breath');
  const filters = [new Filter(), new Filter(), new Filter()];
  const pitchOf = (word: SungWord): number => frequencyOf(word.pitch + singer.transpose + options.interval);
  let phase = 0;
  let frequency = words[0] === undefined ? 0 : pitchOf(words[0]);
  for (const word of words) {
    const syllables = options.vowel === null ? vowelsOf(word.word) : [options.vowel];
    const from = Math.floor(word.start * sampleRate);
    const length = Math.max(0, Math.min(target.length, Math.floor(word.end * sampleRate)) - from);
    const goal = pitchOf(word);
    const attack = Math.min(length / 3, 0.03 * sampleRate);
    const release = Math.min(length / 3, 0.06 * sampleRate);
    const isConsonant = options.vowel === null && /^[^aeiou]/i.test(word.word);
    const consonant = isConsonant ? Math.min(length / 4, 0.05 * sampleRate) : 0;
    const source = new Float64Array(length);
    const sound = target.subarray(from, from + length);
    for (let index = 0; index < length; index++) {
      frequency += (goal - frequency) * 0.0012;
      const shake = Math.sin((2 * Math.PI * 5.4 * (from + index)) / sampleRate) * Math.min(1, index / 9000);
      phase += (frequency * (1 + singer.vibrato * shake) * glottis.length) / sampleRate;
      if (phase >= glottis.length) phase -= glottis.length;
      const breath = noise.next() - 0.5;
      source[index] = (glottis[phase | 0] ?? 0) + 0.04 * breath;
      if (index < consonant)
        sound[index] = (sound[index] ?? 0) + options.gain * 0.12 * breath * (1 - index / consonant);
    }
    const voiced = new Float64Array(length);
    syllables.forEach((vowel, syllable) => {
      const formants: readonly number[] = vowels[vowel] ?? vowels.i ?? [];
      const [begin = 0, end] = [syllable, syllable + 1].map((at) =>
        Math.ceil((at * length) / syllables.length),
      );
      filters.forEach((filter, at) => {
        filter.tune((formants[at] ?? 0) * singer.throat, qualities[at] ?? 1, formants[at + 3] ?? 0);
        filter.run(source.subarray(begin, end), voiced.subarray(begin, end));
      });
    });
    for (let index = 0; index < length; index++) {
      const level = Math.min(1, index / attack, (length - index) / release);
      sound[index] = (sound[index] ?? 0) + options.gain * level * (voiced[index] ?? 0);
    }
  }
}

/** A band-pass filter from the Audio EQ Cookbook (constant peak gain). Tuning keeps its state. */
class Filter {
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

  /** Adds the filtered source to a sound. */
  run(source: Float64Array, sound: Float64Array): void {
    // Local variables, because fields that change for each sample take several times as long.
    let [x1, x2, y1, y2] = [this.#x1, this.#x2, this.#y1, this.#y2];
    const [b0, a1, a2] = [this.#b0, this.#a1, this.#a2];
    for (let index = 0; index < source.length; index++) {
      const input = source[index] ?? 0;
      const output = b0 * (input - x2) - a1 * y1 - a2 * y2;
      x2 = x1;
      x1 = input;
      y2 = y1;
      y1 = output;
      sound[index] = (sound[index] ?? 0) + output;
    }
    [this.#x1, this.#x2, this.#y1, this.#y2] = [x1, x2, y1, y2];
  }
}
