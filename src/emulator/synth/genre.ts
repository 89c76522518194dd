import { wordsOf } from '../words.ts';

/** How a genre sounds: tempo in beats a minute, feel of the drums, and how loud each part is (0 to 1). */
export interface Genre {
  readonly name: string;
  readonly words: readonly string[];
  readonly tempo: readonly [number, number];
  readonly drums: 'straight' | 'four-on-the-floor' | 'half-time' | 'swing' | 'brushes' | 'none';
  readonly minor: boolean;
  readonly levels: Readonly<Record<'drums' | 'bass' | 'guitar' | 'keyboard' | 'strings' | 'synth', number>>;
}

const genres = [
  {
    name: 'lofi',
    words: ['lofi', 'lo-fi', 'chill', 'study', 'rain', 'rainy', 'sleepy', 'cozy', 'coffee'],
    tempo: [72, 84],
    drums: 'swing',
    minor: true,
    levels: { drums: 0.7, bass: 0.8, guitar: 0.35, keyboard: 0.9, strings: 0.25, synth: 0.15 },
  },
  {
    name: 'rock',
    words: ['rock', 'punk', 'metal', 'grunge', 'guitar', 'loud', 'angry', 'battle', 'riot'],
    tempo: [124, 148],
    drums: 'straight',
    minor: true,
    levels: { drums: 1, bass: 0.9, guitar: 1, keyboard: 0.15, strings: 0.1, synth: 0.15 },
  },
  {
    name: 'dance',
    words: ['dance', 'house', 'techno', 'edm', 'club', 'disco', 'party', 'synthwave', 'electronic', 'trance'],
    tempo: [118, 128],
    drums: 'four-on-the-floor',
    minor: true,
    levels: { drums: 1, bass: 0.9, guitar: 0.1, keyboard: 0.3, strings: 0.35, synth: 0.9 },
  },
  {
    name: 'hip-hop',
    words: ['hip-hop', 'hiphop', 'rap', 'trap', 'beat', 'boom'],
    tempo: [82, 94],
    drums: 'half-time',
    minor: true,
    levels: { drums: 1, bass: 1, guitar: 0.2, keyboard: 0.6, strings: 0.3, synth: 0.3 },
  },
  {
    name: 'folk',
    words: ['folk', 'acoustic', 'country', 'campfire', 'ballad', 'singer', 'cowboy', 'shanty', 'fiddle'],
    tempo: [88, 108],
    drums: 'brushes',
    minor: false,
    levels: { drums: 0.4, bass: 0.7, guitar: 1, keyboard: 0.2, strings: 0.45, synth: 0.05 },
  },
  {
    name: 'jazz',
    words: ['jazz', 'swing', 'blues', 'bossa', 'soul', 'funk', 'saxophone'],
    tempo: [96, 126],
    drums: 'swing',
    minor: false,
    levels: { drums: 0.6, bass: 1, guitar: 0.4, keyboard: 0.95, strings: 0.1, synth: 0.1 },
  },
  {
    name: 'cinematic',
    words: [
      'cinematic',
      'orchestral',
      'epic',
      'film',
      'classical',
      'strings',
      'waltz',
      'dragon',
      'ocean',
      'sea',
    ],
    tempo: [76, 92],
    drums: 'half-time',
    minor: true,
    levels: { drums: 0.6, bass: 0.7, guitar: 0.15, keyboard: 0.5, strings: 1, synth: 0.25 },
  },
  {
    name: 'ambient',
    words: ['ambient', 'drone', 'meditation', 'space', 'dream', 'dreamy', 'lullaby', 'calm', 'sleep'],
    tempo: [66, 76],
    drums: 'none',
    minor: false,
    levels: { drums: 0, bass: 0.6, guitar: 0.3, keyboard: 0.6, strings: 0.9, synth: 0.6 },
  },
  {
    name: 'pop',
    words: ['pop', 'happy', 'sunny', 'summer', 'love', 'birthday', 'upbeat', 'indie'],
    tempo: [100, 118],
    drums: 'straight',
    minor: false,
    levels: { drums: 0.85, bass: 0.85, guitar: 0.6, keyboard: 0.7, strings: 0.35, synth: 0.45 },
  },
] as const satisfies readonly Genre[];

const fallbackGenre: Genre = genres[genres.length - 1] ?? genres[0];

/** The genre whose words the text uses most; style words count double. Pop when it uses none. */
export function chooseGenre(style: string, prompt: string): Genre {
  const styleWords = wordsOf(style);
  const promptWords = wordsOf(prompt);
  let best = fallbackGenre;
  let bestScore = 0;
  for (const genre of genres) {
    const known: ReadonlySet<string> = new Set(genre.words);
    const score =
      2 * styleWords.filter((word) => known.has(word)).length +
      promptWords.filter((word) => known.has(word)).length;
    if (score > bestScore) {
      best = genre;
      bestScore = score;
    }
  }
  return best;
}
