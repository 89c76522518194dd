import { createRandom, type Random } from '../../random.ts';
import { chooseGenre, type Genre } from './genre.ts';
import { type Chord, scalePitch, singWords } from './melody.ts';
import type { SongRecipe } from './recipe.ts';

/** A note of a part: start and duration in seconds, pitch as a MIDI number, velocity 0 to 1. */
export interface Note {
  readonly start: number;
  readonly duration: number;
  readonly pitch: number;
  readonly velocity: number;
}
const drumNames = ['kick', 'snare', 'hat', 'openHat', 'brush'] as const;
export type Drum = (typeof drumNames)[number];
export interface DrumHit {
  readonly start: number;
  readonly drum: Drum;
  readonly velocity: number;
}
/** Degrees of the scale, one chord per bar. */
const progressions = {
  major: ['0453', '0534', '0304', '3425', '0234'],
  minor: ['0526', '0354', '0656', '0534', '0254'],
} as const;

/** Bars of the bass: beat, length in beats, semitones above the root, velocity. */
const bassBars = {
  offbeat: [0.5, 1.5, 2.5, 3.5].map((at) => [at, 0.45, 0, 0.9]),
  drone: [[0, 4, 0, 0.7]],
  walking: [0, 4, 7, 9].map((interval, at) => [at, 0.95, interval, 0.85]),
  steady: [
    [0, 1.4, 0, 0.9],
    [1.5, 0.45, 0, 0.7],
    [2, 1.4, 12, 0.8],
    [3.5, 0.45, 7, 0.7],
  ],
};

/** A bar of each rhythm in drum machine notation: 12 or 16 steps, silent or hit with a velocity of 1 to 9. */
const rhythms: Record<Genre['rhythm'], Partial<Record<Drum, string>> & { bass?: keyof typeof bassBars }> = {
  none: { bass: 'drone' },
  'four-on-the-floor': {
    bass: 'offbeat',
    kick: '9...9...9...9...',
    snare: '....7.......7...',
    openHat: '..6...6...6...6.',
  },
  'half-time': { kick: '9.....8.........', snare: '........9.......', hat: '5.3.5.3.5.3.5.3.' },
  swing: { bass: 'walking', kick: '9.....8.....', snare: '...7.....7..', hat: '4.34.34.34.3' },
  brushes: { kick: '6.......6.......', brush: '..3.6.3...3.6.3.' },
  straight: { kick: '9.......9.7.....', snare: '....9.......9...', hat: '5.3.5.3.5.3.5.3.' },
};
/** The snare's last beat in every fourth bar of 16 steps. */
const fill = '..57';

const tailSeconds = 1.2;
const longestSeconds = 26;
const wordsPerSecond = 2.4;

export type Composition = ReturnType<typeof compose>;

/** Composes the song: every note, drum hit and sung word. Depends only on the recipe. */
export function compose(recipe: SongRecipe) {
  const { title, style, prompt, lyrics, take } = recipe;
  const random = createRandom(JSON.stringify([title, style, prompt, lyrics, take]));
  const genre = chooseGenre(style, `${prompt} ${title}`);
  const beat = 60 / Math.round(random.between(...genre.tempo));
  const minor = random.chance(genre.minor ? 0.85 : 0.15);
  const root = 57 + random.integer(7) - 3;
  const chords = chordsOf(recipe, { bar: 4 * beat, root, minor, random });
  const from = chords.length >= 5 ? 4 * beat : 0;
  const to = chords.length * 4 * beat;
  return {
    genre,
    seconds: to + tailSeconds,
    drums: chords.flatMap((chord, index) => drumBar(genre, chord.start, beat, index)),
    bass: chords.flatMap((chord) => bassBar(genre, chord, beat)),
    guitar: chords.flatMap((chord) => arpeggio(chord, beat / 2, '01213212', 0, 0.7)),
    keyboard: chords.flatMap((chord) => keyboardBar(chord, beat, random)),
    strings: chords.flatMap((chord) =>
      chord.pitches.map((pitch) => ({ ...chord, pitch: pitch + 12, velocity: 0.6 })),
    ),
    synth: chords.flatMap((chord, index) =>
      arpeggio(chord, beat / (index % 2 === 0 ? 2 : 4), '02132031', 12, 0.55),
    ),
    words: lyrics === null ? [] : singWords(lyrics, { from, to, root: root + 12, minor, chords, random }),
  };
}

function chordsOf(
  { seconds, lyrics, source }: SongRecipe,
  { bar, root, minor, random }: { bar: number; root: number; minor: boolean; random: Random },
): Chord[] {
  const progression = random.pick(progressions[minor ? 'minor' : 'major']);
  const wordCount = lyrics?.match(/\S+/g)?.length ?? 0;
  // A song with an upload has its length. Otherwise long lyrics extend it, up to a limit.
  const accompanies = source?.kind === 'upload' && source.use !== 'extend';
  const singingSeconds =
    accompanies || seconds <= 10 ? 0 : Math.min(longestSeconds, wordCount / wordsPerSecond);
  const exactBars = (Math.max(seconds, singingSeconds) - tailSeconds) / bar;
  const bars = Math.max(1, accompanies ? Math.floor(exactBars) : Math.round(exactBars));
  return Array.from({ length: bars }, (_, index) => {
    // The song ends on the tonic.
    const degree = index === bars - 1 && bars > 2 ? 0 : Number(progression[index % progression.length]);
    const pitch = (above: number): number => scalePitch(root, minor, degree + above);
    return { start: index * bar, duration: bar, pitches: [pitch(0), pitch(2), pitch(4)] };
  });
}

function drumBar({ rhythm }: Genre, start: number, beat: number, index: number): DrumHit[] {
  return drumNames.flatMap((drum) => {
    const bar = rhythms[rhythm][drum] ?? '';
    const isFilled = drum === 'snare' && bar.length === 16 && index % 4 === 3;
    const steps = isFilled ? bar.slice(0, 12) + fill : bar;
    return [...steps].flatMap((step, at) =>
      step === '.'
        ? []
        : [{ start: start + (4 * beat * at) / steps.length, drum, velocity: Number(step) / 9 }],
    );
  });
}

function bassBar({ rhythm }: Genre, { start, pitches }: Chord, beat: number): Note[] {
  const bar = bassBars[rhythms[rhythm].bass ?? 'steady'];
  return bar.map(([at = 0, length = 1, interval = 0, velocity = 1]) => ({
    start: start + at * beat,
    duration: length * beat,
    pitch: pitches[0] - 24 + interval,
    velocity,
  }));
}

function keyboardBar(chord: Chord, beat: number, random: Random): Note[] {
  const second = random.chance(0.5) ? 2 : 2.5;
  return [0, second].flatMap((at, index) =>
    chord.pitches.map((pitch, voice) => ({
      start: chord.start + at * beat + voice * 0.012,
      duration: (index === 0 ? second : 4 - second) * beat * 0.96,
      pitch,
      velocity: index === 0 ? 0.8 : 0.6,
    })),
  );
}

/** Returns the chord's notes one after the other. Each digit of the order is a note from the root up. */
function arpeggio(chord: Chord, step: number, order: string, shift: number, velocity: number): Note[] {
  const pitches = [...chord.pitches, chord.pitches[0] + 12];
  return Array.from({ length: Math.floor(chord.duration / step + 0.001) }, (_, index) => ({
    start: chord.start + index * step,
    duration: step * 1.6,
    pitch: (pitches[Number(order[index % order.length])] ?? 0) + shift,
    velocity: index % 4 === 0 ? velocity : velocity * 0.75,
  }));
}
