import { bestMatch, wordsOf } from '../../writing.ts';

/** The sound of a genre. */
export interface Genre {
  /** Words that select the genre, separated by spaces. The first is its name. */
  readonly words: string;
  /** Minimum and maximum beats per minute. */
  readonly tempo: readonly [number, number];
  readonly rhythm: 'straight' | 'four-on-the-floor' | 'half-time' | 'swing' | 'brushes' | 'none';
  readonly minor: boolean;
  /** The level of each part, 0 to 1. */
  readonly levels: Readonly<Record<'drums' | 'bass' | 'guitar' | 'keyboard' | 'strings' | 'synth', number>>;
}

/** The first one is the default for texts without any of these words. */
const genres: readonly [Genre, ...Genre[]] = [
  {
    words: 'pop happy sunny summer love birthday upbeat indie',
    tempo: [100, 118],
    rhythm: 'straight',
    minor: false,
    levels: { drums: 0.85, bass: 0.85, guitar: 0.6, keyboard: 0.7, strings: 0.35, synth: 0.45 },
  },
  {
    words: 'lofi lo-fi chill study rain rainy sleepy cozy coffee',
    tempo: [72, 84],
    rhythm: 'swing',
    minor: true,
    levels: { drums: 0.7, bass: 0.8, guitar: 0.35, keyboard: 0.9, strings: 0.25, synth: 0.15 },
  },
  {
    words: 'rock punk metal grunge guitar loud angry battle riot',
    tempo: [124, 148],
    rhythm: 'straight',
    minor: true,
    levels: { drums: 1, bass: 0.9, guitar: 1, keyboard: 0.15, strings: 0.1, synth: 0.15 },
  },
  {
    words: 'dance house techno edm club disco party synthwave electronic trance',
    tempo: [118, 128],
    rhythm: 'four-on-the-floor',
    minor: true,
    levels: { drums: 1, bass: 0.9, guitar: 0.1, keyboard: 0.3, strings: 0.35, synth: 0.9 },
  },
  {
    words: 'hip-hop hiphop rap trap beat boom',
    tempo: [82, 94],
    rhythm: 'half-time',
    minor: true,
    levels: { drums: 1, bass: 1, guitar: 0.2, keyboard: 0.6, strings: 0.3, synth: 0.3 },
  },
  {
    words: 'folk acoustic country campfire ballad singer cowboy shanty fiddle',
    tempo: [88, 108],
    rhythm: 'brushes',
    minor: false,
    levels: { drums: 0.4, bass: 0.7, guitar: 1, keyboard: 0.2, strings: 0.45, synth: 0.05 },
  },
  {
    words: 'jazz swing blues bossa soul funk saxophone',
    tempo: [96, 126],
    rhythm: 'swing',
    minor: false,
    levels: { drums: 0.6, bass: 1, guitar: 0.4, keyboard: 0.95, strings: 0.1, synth: 0.1 },
  },
  {
    words: 'cinematic orchestral epic film classical strings waltz dragon ocean sea',
    tempo: [76, 92],
    rhythm: 'half-time',
    minor: true,
    levels: { drums: 0.6, bass: 0.7, guitar: 0.15, keyboard: 0.5, strings: 1, synth: 0.25 },
  },
  {
    words: 'ambient drone meditation space dream dreamy lullaby calm sleep',
    tempo: [66, 76],
    rhythm: 'none',
    minor: false,
    levels: { drums: 0, bass: 0.6, guitar: 0.3, keyboard: 0.6, strings: 0.9, synth: 0.6 },
  },
];

/** Returns the genre whose words the text uses most. Style words count twice. The default is pop. */
export function chooseGenre(style: string, prompt: string): Genre {
  const styleWords = wordsOf(style);
  return bestMatch(genres, [...styleWords, ...styleWords, ...wordsOf(prompt)]) ?? genres[0];
}

/** Returns the name of a genre. */
export function genreName({ words }: Genre): string {
  return words.slice(0, words.indexOf(' '));
}
