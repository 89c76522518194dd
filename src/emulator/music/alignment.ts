import type { Audio } from '../store.ts';
import { compose } from '../synth/composition.ts';
import type { SongRecipe } from '../synth/recipe.ts';

/** A word of the lyrics with its start and end in seconds from the song's beginning. */
export interface AlignedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
}

/** When each word of a song is sung; empty for an instrumental. */
export function alignWords(audio: Audio): AlignedWord[] {
  return align(audio.recipe, audio.seconds ?? audio.recipe.seconds).map(({ text, startS, endS }) => ({
    text,
    startS: milliseconds(startS),
    endS: milliseconds(endS),
  }));
}

function align(recipe: SongRecipe, seconds: number): AlignedWord[] {
  const { source } = recipe;
  if (source?.kind === 'song') {
    const before = align(source.recipe, source.continueAt).filter((word) => word.startS < source.continueAt);
    return [...before, ...shift(recipe, source.continueAt)];
  }
  if (source === null) return shift(recipe, 0);
  // An upload is followed by the song when it is extended, and accompanied for its whole length otherwise.
  if (source.use === 'extend') return shift(recipe, seconds - compose(recipe).seconds);
  return shift({ ...recipe, seconds }, 0);
}

function shift(recipe: SongRecipe, from: number): AlignedWord[] {
  return compose(recipe).words.map((word) => ({
    text: word.text,
    startS: from + word.start,
    endS: from + word.end,
  }));
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
