/** What a song is made from. Equal recipes give equal bytes, so a song is never stored as PCM: it is made again. */
export interface SongRecipe {
  readonly title: string;
  readonly style: string;
  readonly prompt: string;
  /** The words sung, with section tags; null when the song is instrumental. */
  readonly lyrics: string | null;
  /** Seed of a saved voice; null lets the song choose its singer. */
  readonly voice: string | null;
  /** The wished length in seconds, before rounding to whole bars. */
  readonly seconds: number;
  /** 0 for the first take, 1 for the second. */
  readonly take: number;
  readonly source: SongSource | null;
}

export type SongSource =
  | { readonly kind: 'song'; readonly recipe: SongRecipe; readonly continueAt: number }
  | {
      readonly kind: 'upload';
      readonly use: 'cover' | 'extend' | 'vocals' | 'instrumental';
      readonly audio: Uint8Array;
      /** SHA-256 of the audio; stands for it wherever recipes are compared. */
      readonly digest: string;
      /** Seconds; only read when the upload is extended. */
      readonly continueAt: number | null;
    };

export const stemNames = [
  'vocals',
  'backingVocals',
  'drums',
  'bass',
  'guitar',
  'keyboard',
  'strings',
  'synth',
] as const;
export type StemName = (typeof stemNames)[number];

export const sampleRate = 44_100;

/** Two channels of 16-bit samples at 44.1 kHz, of equal length. */
export interface Pcm {
  readonly left: Int16Array;
  readonly right: Int16Array;
}
export type Stems = Readonly<Record<StemName, Pcm>>;

/** A text that is equal for equal recipes; the bytes of uploads are left to their digests. */
export function recipeKey(recipe: SongRecipe): string {
  return JSON.stringify(recipe, (key, value: unknown) => (key === 'audio' ? undefined : value));
}

/** Seconds of sound in a PCM. */
export function pcmSeconds(pcm: Pcm): number {
  return pcm.left.length / sampleRate;
}
