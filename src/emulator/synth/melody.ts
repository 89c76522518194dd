import type { Random } from '../random.ts';
import { type Chord, scalePitch } from './scale.ts';

/** One word as it is sung: seconds from the song's start, and its pitch as a MIDI number. */
export interface SungWord {
  /** The word as the lyrics have it; the first word of a section carries the section's tag and a line break. */
  readonly text: string;
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly pitch: number;
  readonly chorus: boolean;
}

interface Line {
  readonly words: readonly string[];
  readonly tag: string | null;
  readonly chorus: boolean;
}

/** The lines of a lyric text; a line that is only a tag, such as `[Chorus]`, marks the line after it. */
function linesOf(lyrics: string): Line[] {
  const lines: Line[] = [];
  let tag: string | null = null;
  let chorus = false;
  for (const raw of lyrics.split('\n')) {
    let rest = raw.trim();
    for (
      let match = /^\[[^\]\n]{1,60}\]/.exec(rest);
      match !== null;
      match = /^\[[^\]\n]{1,60}\]/.exec(rest)
    ) {
      tag = match[0];
      chorus = /chorus|hook|refrain/i.test(match[0]);
      rest = rest.slice(match[0].length).trim();
    }
    if (rest === '') continue;
    lines.push({ words: rest.split(/\s+/), tag, chorus });
    tag = null;
  }
  return lines;
}

/**
 * Sets a lyric text to the chords between two times: every word gets a time and a pitch, in order, without overlap.
 * A line gets time by its number of words, with a breath at its end.
 */
export function singWords(
  lyrics: string,
  song: { from: number; to: number; root: number; minor: boolean; chords: readonly Chord[]; random: Random },
): SungWord[] {
  const { from, to, root, minor, chords, random } = song;
  const lines = linesOf(lyrics);
  const weight = lines.reduce((total, line) => total + line.words.length + 1, 0);
  if (weight === 0) return [];
  const slot = (to - from) / weight;
  const contour = Array.from({ length: 8 }, () => random.integer(5) - 1);
  const chorusContour = contour.map((step) => step + 2);
  const sung: SungWord[] = [];
  let cursor = from;
  for (const line of lines) {
    const shape = line.chorus ? chorusContour : contour;
    line.words.forEach((word, index) => {
      const chord = chords.findLast((candidate) => candidate.start <= cursor + 0.01) ?? chords[0];
      const last = index === line.words.length - 1;
      const wished = scalePitch(root, minor, shape[index % shape.length] ?? 0);
      const pitch =
        chord !== undefined && (last || index % 2 === 0) ? nearest(wished, chord.pitches) : wished;
      const end = cursor + slot * (last ? 1.5 : 0.94);
      const tagged = index === 0 && line.tag !== null ? `${line.tag}\n${word}` : word;
      const separator = last ? '\n' : ' ';
      sung.push({ text: tagged + separator, word, start: cursor, end, pitch, chorus: line.chorus });
      cursor += slot;
    });
    cursor += slot;
  }
  return sung;
}

/** The pitch, in any octave of the given ones, that lies nearest to the wished one. */
function nearest(wished: number, pitches: readonly number[]): number {
  let best = wished;
  let distance = Number.POSITIVE_INFINITY;
  for (const pitch of pitches) {
    const candidate = pitch + 12 * Math.round((wished - pitch) / 12);
    if (Math.abs(candidate - wished) < distance) {
      distance = Math.abs(candidate - wished);
      best = candidate;
    }
  }
  return best;
}
