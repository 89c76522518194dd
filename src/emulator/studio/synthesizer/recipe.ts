/** The input of a song. Equal recipes give equal bytes, so songs are rendered again and not stored as PCM. */
export interface SongRecipe {
  readonly title: string;
  readonly style: string;
  readonly prompt: string;
  /** The lyrics with section tags. Null for an instrumental. */
  readonly lyrics: string | null;
  /** Seed of a saved voice. Null derives the singer from the song. */
  readonly voice: string | null;
  /** The requested length in seconds, before rounding to whole bars. */
  readonly seconds: number;
  /** 0 for the first take, 1 for the second. */
  readonly take: number;
  readonly source: SongSource | null;
}

export interface UploadSource {
  readonly kind: 'upload';
  readonly use: 'cover' | 'extend' | 'vocals' | 'instrumental';
  readonly audio: Uint8Array;
  /** In seconds. Used only for extensions. */
  readonly continueAt: number | null;
}

type SongSource =
  | { readonly kind: 'song'; readonly recipe: SongRecipe; readonly continueAt: number }
  | UploadSource;

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

/** 16-bit stereo at 44.1 kHz, left and right samples alternating. */
export type Pcm = Int16Array<ArrayBuffer>;
export type Stems = Readonly<Record<StemName, Pcm>>;

/** Returns the length of a PCM in seconds. */
export function pcmSeconds(pcm: Pcm): number {
  return pcm.length / 2 / sampleRate;
}
