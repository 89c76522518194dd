import type { Random } from '../../random.ts';

/** The chord of a bar: its time and its pitches from the root up (MIDI numbers around middle C). */
export interface Chord {
  readonly start: number;
  readonly duration: number;
  readonly pitches: readonly [number, number, number];
}

/** A sung word: seconds from the song's start, and the pitch as a MIDI number. */
export interface SungWord {
  /** The word as in the lyrics. The first word of a section includes the section's tag and a line break. */
  readonly text: string;
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly pitch: number;
  readonly chorus: boolean;
}

const majorScale = [0, 2, 4, 5, 7, 9, 11] as const;
const minorScale = [0, 2, 3, 5, 7, 8, 10] as const;

/** Returns the pitch of a scale's degree (any integer, 0 is the root) above a MIDI root. */
export function scalePitch(root: number, minor: boolean, degree: number): number {
  const octave = Math.floor(degree / 7);
  return root + 12 * octave + ((minor ? minorScale : majorScale)[degree - 7 * octave] ?? 0);
}

/** Splits lyrics into lines. Tags before words, such as `[Chorus]`, apply to the line after them. */
function linesOf(lyrics: string) {
  const lines: { words: readonly string[]; tag: string | null; chorus: boolean }[] = [];
  let tag: string | null = null;
  let chorus = false;
  for (const line of lyrics.split('\n')) {
    const [tags = ''] = /^\s*(\[[^\]]{1,60}\]\s*)*/.exec(line) ?? [];
    const last = tags.match(/\[[^[\]]*\]/g)?.at(-1);
    if (last !== undefined) {
      tag = last;
      chorus = /chorus|hook|refrain/i.test(last);
    }
    const words = line.slice(tags.length).match(/\S+/g);
    if (words === null) continue;
    lines.push({ words, tag, chorus });
    tag = null;
  }
  return lines;
}

/**
 * Sets lyrics to the chords between two times. Every word gets a time and a pitch, in order and without overlap. The time
 * of a line depends on its number of words, with a breath at its end.
 */
export function singWords(
  lyrics: string,
  song: { from: number; to: number; root: number; minor: boolean; chords: readonly Chord[]; random: Random },
): SungWord[] {
  const { from, to, root, minor, chords, random } = song;
  const lines = linesOf(lyrics);
  const slots = lines.reduce((total, line) => total + line.words.length + 1, 0);
  const slot = (to - from) / slots;
  const contour = Array.from({ length: 8 }, () => random.integer(5) - 1);
  let cursor = from;
  return lines.flatMap((line) => {
    const sung = line.words.map((word, index): SungWord => {
      const start = cursor + index * slot;
      const chord = chords.findLast((candidate) => candidate.start <= start + 0.01) ?? chords[0];
      const last = index === line.words.length - 1;
      const step = (contour[index % contour.length] ?? 0) + (line.chorus ? 2 : 0);
      const free = scalePitch(root, minor, step);
      const pitch = chord !== undefined && (last || index % 2 === 0) ? nearest(free, chord.pitches) : free;
      const tagged = index === 0 && line.tag !== null ? `${line.tag}\n${word}` : word;
      const end = start + slot * (last ? 1.5 : 0.94);
      return { text: tagged + (last ? '\n' : ' '), word, start, end, pitch, chorus: line.chorus };
    });
    cursor += slot * (line.words.length + 1);
    return sung;
  });
}

/** Returns the pitch nearest to the goal, in any octave. */
function nearest(goal: number, pitches: readonly number[]): number {
  const candidates = pitches.map((pitch) => pitch + 12 * Math.round((goal - pitch) / 12));
  const distance = (pitch: number): number => Math.abs(pitch - goal);
  return candidates.reduce((best, pitch) => (distance(pitch) < distance(best) ? pitch : best));
}
