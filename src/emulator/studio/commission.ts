import type { SongRecipe, StemName } from './synthesizer/recipe.ts';

/** A piece of work for the studio; equal commissions give equal bytes. */
export type Commission =
  | { readonly kind: 'song'; readonly recipe: SongRecipe }
  | { readonly kind: 'wav'; readonly recipe: SongRecipe }
  | { readonly kind: 'stems'; readonly recipe: SongRecipe; readonly split: 'separate_vocal' | 'split_stem' }
  | {
      readonly kind: 'picture';
      readonly prompt: string;
      /** Words to leave out of the picture. */
      readonly avoid?: string;
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: 'music-video'; readonly recipe: SongRecipe; readonly prompt: string }
  | {
      readonly kind: 'video';
      readonly prompt: string;
      readonly width: number;
      readonly height: number;
      readonly seconds: number;
      /** Bytes of the source image (PNG or JPEG), if any. */
      readonly image: Uint8Array | null;
      /** Bytes of the source audio (WAV or MP3), `composed` for sound made from the prompt, or none. */
      readonly sound: Uint8Array | 'composed' | 'none';
    };

/** Stems that a gateway may tell apart and the synthesizer does not play. */
type FurtherStem = 'percussion' | 'brass' | 'woodwinds' | 'fx';

/** A file of the studio. The name says which of a commission's files it is: `song`, or a stem's name. */
export interface Piece {
  readonly name: StemName | FurtherStem | 'song' | 'instrumental' | 'picture' | 'video';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: 'audio/mpeg' | 'audio/wav' | 'image/png' | 'video/mp4';
  /** Seconds of sound or film; absent for pictures. */
  readonly seconds?: number;
}

/** The studio could not use sound or a picture that it was given. */
export class UnusableInputError extends Error {
  override readonly name = 'UnusableInputError';
}

export type StudioAnswer =
  | { readonly id: number; readonly pieces: readonly Piece[] }
  | { readonly id: number; readonly isUnusable: boolean; readonly message: string };
