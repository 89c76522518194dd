import { createRandom, type Random } from '../random.ts';
import { chooseGenre, type Genre } from './genre.ts';
import { type SungWord, singWords } from './melody.ts';
import type { SongRecipe } from './recipe.ts';
import { type Chord, scalePitch } from './scale.ts';

/** A note of a part: start and duration in seconds, pitch as a MIDI number, velocity 0 to 1. */
export interface Note {
  readonly start: number;
  readonly duration: number;
  readonly pitch: number;
  readonly velocity: number;
}
export interface DrumHit {
  readonly start: number;
  readonly drum: 'kick' | 'snare' | 'hat' | 'open-hat' | 'brush';
  readonly velocity: number;
}
export interface Composition {
  readonly genre: Genre;
  readonly tempo: number;
  readonly seconds: number;
  readonly chords: readonly Chord[];
  readonly drums: readonly DrumHit[];
  readonly bass: readonly Note[];
  readonly guitar: readonly Note[];
  readonly keyboard: readonly Note[];
  readonly strings: readonly Note[];
  readonly synth: readonly Note[];
  readonly words: readonly SungWord[];
}
const majorProgressions: readonly (readonly number[])[] = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [0, 3, 0, 4],
  [3, 4, 2, 5],
  [0, 2, 3, 4],
];
const minorProgressions: readonly (readonly number[])[] = [
  [0, 5, 2, 6],
  [0, 3, 5, 4],
  [0, 6, 5, 6],
  [0, 5, 3, 4],
  [0, 2, 5, 4],
];
const tailSeconds = 1.2;
const longestSeconds = 26;
const wordsPerSecond = 2.4;

/** Writes the song: every note, drum hit and sung word, decided by the recipe alone. */
export function compose(recipe: SongRecipe): Composition {
  const { title, style, prompt, lyrics, take } = recipe;
  const random = createRandom(JSON.stringify([title, style, prompt, lyrics, take]));
  const genre = chooseGenre(style, `${prompt} ${title}`);
  const tempo = Math.round(random.between(genre.tempo[0], genre.tempo[1]));
  const beat = 60 / tempo;
  const bar = 4 * beat;
  const minor = random.chance(genre.minor ? 0.85 : 0.15);
  const root = 57 + random.integer(7) - 3;
  const progression = random.pick(minor ? minorProgressions : majorProgressions);

  const wordCount = lyrics === null ? 0 : (lyrics.match(/\S+/g)?.length ?? 0);
  // Beside an upload the song lasts as long as that; otherwise many words make it longer, up to a bound.
  const accompanies = recipe.source?.kind === 'upload' && recipe.source.use !== 'extend';
  const forWords =
    accompanies || recipe.seconds <= 10 ? 0 : Math.min(longestSeconds, wordCount / wordsPerSecond);
  const wishedBars = (Math.max(recipe.seconds, forWords) - tailSeconds) / bar;
  const bars = Math.max(1, accompanies ? Math.floor(wishedBars) : Math.round(wishedBars));
  const chords: Chord[] = Array.from({ length: bars }, (_, index) => {
    const degree = index === bars - 1 && bars > 2 ? 0 : (progression[index % progression.length] ?? 0);
    return {
      start: index * bar,
      duration: bar,
      pitches: [
        scalePitch(root, minor, degree),
        scalePitch(root, minor, degree + 2),
        scalePitch(root, minor, degree + 4),
      ],
    };
  });
  const introBars = bars >= 5 ? 1 : 0;
  const words =
    lyrics === null
      ? []
      : singWords(lyrics, { from: introBars * bar, to: bars * bar, root: root + 12, minor, chords, random });

  return {
    genre,
    tempo,
    seconds: bars * bar + tailSeconds,
    chords,
    drums: chords.flatMap((chord, index) =>
      index < introBars && genre.drums !== 'four-on-the-floor'
        ? []
        : drumBar(genre, chord.start, beat, index, random),
    ),
    bass: chords.flatMap((chord) => bassBar(genre, chord, beat, random)),
    guitar: chords.flatMap((chord) => arpeggio(chord, beat / 2, [0, 1, 2, 1, 3, 2, 1, 2], 0, 0.7)),
    keyboard: chords.flatMap((chord) => keyboardBar(chord, beat, random)),
    strings: chords.flatMap((chord) =>
      chord.pitches.map((pitch) => ({ ...chord, pitch: pitch + 12, velocity: 0.6 })),
    ),
    synth: chords.flatMap((chord, index) =>
      arpeggio(chord, beat / (index % 2 === 0 ? 2 : 4), [0, 2, 1, 3, 2, 0, 3, 1], 12, 0.55),
    ),
    words,
  };
}

function drumBar(genre: Genre, start: number, beat: number, index: number, random: Random): DrumHit[] {
  const hit = (at: number, drum: DrumHit['drum'], velocity: number): DrumHit => ({
    start: start + at * beat,
    drum,
    velocity,
  });
  const fill = index % 4 === 3 ? [hit(3.5, 'snare', 0.5), hit(3.75, 'snare', 0.7)] : [];
  switch (genre.drums) {
    case 'none':
      return [];
    case 'four-on-the-floor':
      return [0, 1, 2, 3].flatMap((at) => [
        hit(at, 'kick', 1),
        hit(at + 0.5, 'open-hat', 0.6),
        ...(at % 2 === 1 ? [hit(at, 'snare', 0.7)] : []),
      ]);
    case 'half-time':
      return [
        hit(0, 'kick', 1),
        hit(1.5 + (random.chance(0.4) ? 0.25 : 0), 'kick', 0.8),
        hit(2, 'snare', 1),
        ...Array.from({ length: 8 }, (_, eighth) => hit(eighth / 2, 'hat', eighth % 2 === 0 ? 0.5 : 0.3)),
        ...fill,
      ];
    case 'swing':
      return [
        hit(0, 'kick', 0.9),
        hit(1, 'snare', 0.7),
        hit(2 + (random.chance(0.5) ? 0.66 : 0), 'kick', 0.8),
        hit(3, 'snare', 0.7),
        ...[0, 1, 2, 3].flatMap((at) => [hit(at, 'hat', 0.45), hit(at + 0.66, 'hat', 0.3)]),
      ];
    case 'brushes':
      return [0, 1, 2, 3].flatMap((at) => [
        hit(at, at % 2 === 0 ? 'kick' : 'brush', 0.6),
        hit(at + 0.5, 'brush', 0.3),
      ]);
    case 'straight':
      return [
        hit(0, 'kick', 1),
        hit(1, 'snare', 0.9),
        hit(2, 'kick', 0.9),
        hit(2.5, 'kick', 0.7),
        hit(3, 'snare', 0.9),
        ...Array.from({ length: 8 }, (_, eighth) => hit(eighth / 2, 'hat', eighth % 2 === 0 ? 0.55 : 0.35)),
        ...fill,
      ];
    default:
      return genre.drums satisfies never;
  }
}

function bassBar(genre: Genre, chord: Chord, beat: number, random: Random): Note[] {
  const low = chord.pitches[0] - 24;
  const note = (at: number, length: number, pitch: number, velocity = 0.9): Note => ({
    start: chord.start + at * beat,
    duration: length * beat,
    pitch,
    velocity,
  });
  if (genre.drums === 'four-on-the-floor') return [0.5, 1.5, 2.5, 3.5].map((at) => note(at, 0.45, low));
  if (genre.drums === 'none') return [note(0, 4, low, 0.7)];
  if (genre.name === 'jazz') {
    const steps = [0, 4, 7, random.pick([9, 10, 5])];
    return steps.map((step, at) => note(at, 0.95, low + step, 0.85));
  }
  return [
    note(0, 1.4, low),
    note(1.5, 0.45, low, 0.7),
    note(2, 1.4, low + (random.chance(0.4) ? 12 : 0)),
    note(3.5, 0.45, low + 7, 0.7),
  ];
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

function arpeggio(
  chord: Chord,
  step: number,
  order: readonly number[],
  shift: number,
  velocity: number,
): Note[] {
  const pitches = [...chord.pitches, chord.pitches[0] + 12];
  return Array.from({ length: Math.floor(chord.duration / step + 0.001) }, (_, index) => ({
    start: chord.start + index * step,
    duration: step * 1.6,
    pitch: (pitches[order[index % order.length] ?? 0] ?? chord.pitches[0]) + shift,
    velocity: index % 4 === 0 ? velocity : velocity * 0.75,
  }));
}
