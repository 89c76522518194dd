/** One bar's chord: when it sounds and its pitches from the root up (MIDI numbers around middle C). */
export interface Chord {
  readonly start: number;
  readonly duration: number;
  readonly pitches: readonly [number, number, number];
}

const majorScale = [0, 2, 4, 5, 7, 9, 11] as const;
const minorScale = [0, 2, 3, 5, 7, 8, 10] as const;

/** The pitch of a scale's degree (0 is the root; any integer) above a MIDI root. */
export function scalePitch(root: number, minor: boolean, degree: number): number {
  const scale = minor ? minorScale : majorScale;
  const octave = Math.floor(degree / 7);
  return root + 12 * octave + (scale[degree - 7 * octave] ?? 0);
}

/** The frequency of a MIDI pitch in hertz; 69 is 440 Hz. */
export function frequencyOf(pitch: number): number {
  return 440 * 2 ** ((pitch - 69) / 12);
}
