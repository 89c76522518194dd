/** The input of a song. Equal recipes give equal bytes, so songs are rendered again instead of stored as PCM. */
export interface SongRecipe {
  readonly title: string;
  readonly style: string;
  readonly prompt: string;
  /** The words sung, with section tags; null when the song is instrumental. */
  readonly lyrics: string | null;
  /** Seed of a saved voice; null lets the song choose its singer. */
  readonly voice: string | null;
  /** The length asked for in seconds, before rounding to whole bars. */
  readonly seconds: number;
  /** 0 for the first take, 1 for the second. */
  readonly take: number;
  readonly source: SongSource | null;
}

export interface UploadSource {
  readonly kind: 'upload';
  readonly use: 'cover' | 'extend' | 'vocals' | 'instrumental';
  readonly audio: Uint8Array;
  /** Seconds; only read when the upload is extended. */
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

/** 16-bit stereo at 44.1 kHz, samples of the left and the right alternating. */
export type Pcm = Int16Array<ArrayBuffer>;
export type Stems = Readonly<Record<StemName, Pcm>>;

/** Seconds of sound in a PCM. */
export function pcmSeconds(pcm: Pcm): number {
  return pcm.length / 2 / sampleRate;
}
