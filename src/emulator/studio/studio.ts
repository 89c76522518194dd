import { Worker } from 'node:worker_threads';
import { builtModule } from '../../core/util/installation.ts';
import type { SongRecipe, StemName } from './synthesizer/recipe.ts';

/** A piece of work for the studio. Equal commissions give equal bytes. */
export type Commission =
  | { readonly kind: 'song'; readonly recipe: SongRecipe }
  | { readonly kind: 'wav'; readonly recipe: SongRecipe }
  | { readonly kind: 'stems'; readonly recipe: SongRecipe; readonly split: 'separate_vocal' | 'split_stem' }
  | {
      readonly kind: 'picture';
      readonly prompt: string;
      /** Words to leave out of the image. */
      readonly avoid?: string;
      readonly width: number;
      readonly height: number;
    }
  | {
      readonly kind: 'changed-picture';
      /** Describes the change. */
      readonly prompt: string;
      /** Bytes of the source images (PNG, JPEG or WebP). The first one is changed, the others are shown in it. */
      readonly photos: readonly [Uint8Array, ...Uint8Array[]];
    }
  | { readonly kind: 'music-video'; readonly recipe: SongRecipe; readonly prompt: string }
  | {
      readonly kind: 'video';
      readonly prompt: string;
      readonly width: number;
      readonly height: number;
      readonly seconds: number;
      /** Bytes of the source image (PNG, JPEG or WebP), if any. */
      readonly image: Uint8Array | null;
      /** Bytes of the source audio (WAV or MP3), `composed` for sound made from the prompt, or none. */
      readonly sound: Uint8Array | 'composed' | 'none';
    };

/** Stems of gateways that the synthesizer doesn't play. */
type FurtherStem = 'percussion' | 'brass' | 'woodwinds' | 'fx';

/** A file of the studio. The name identifies it within the commission: `song`, or a stem's name. */
export interface Piece {
  readonly name: StemName | FurtherStem | 'song' | 'instrumental' | 'picture' | 'video';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: 'audio/mpeg' | 'audio/wav' | 'image/png' | 'video/mp4';
  /** Length of the audio or video in seconds. Absent for images. */
  readonly seconds?: number;
}

/** The input audio or image cannot be used. */
export class UnusableInputError extends Error {
  override readonly name = 'UnusableInputError';
}

export type StudioAnswer =
  | { readonly id: number; readonly pieces: readonly Piece[] }
  | { readonly id: number; readonly isUnusable: boolean; readonly message: string };

/** Creates media in a separate thread, so that the server stays responsive. */
export interface Studio {
  /** Throws UnusableInputError if uploaded audio or an image cannot be read, and Error if the studio closes. */
  produce(commission: Commission): Promise<readonly Piece[]>;
  close(): Promise<void>;
}

/** Opens a studio. Its worker thread starts with the first commission. */
export function openStudio(): Studio {
  const waiting = new Map<number, PromiseWithResolvers<readonly Piece[]>>();
  let worker: Worker | null = null;
  let nextId = 1;
  let closed = false;

  const startWorker = (): Worker => {
    const started = new Worker(builtModule(new URL('./worker.ts', import.meta.url)));
    started.on('message', (answer: StudioAnswer) => {
      const request = waiting.get(answer.id);
      waiting.delete(answer.id);
      // An idle worker does not keep the process alive.
      if (waiting.size === 0) started.unref();
      if ('pieces' in answer) request?.resolve(answer.pieces);
      else request?.reject(new (answer.isUnusable ? UnusableInputError : Error)(answer.message));
    });
    const lose = (error: Error): void => {
      worker = null;
      for (const request of waiting.values()) request.reject(error);
      waiting.clear();
    };
    started.on('error', lose);
    started.on('exit', () => lose(new Error('the studio closed')));
    return started;
  };

  return {
    produce(commission) {
      if (closed) return Promise.reject(new Error('the studio is closed'));
      worker ??= startWorker();
      const id = nextId++;
      const request = Promise.withResolvers<readonly Piece[]>();
      waiting.set(id, request);
      worker.ref();
      worker.postMessage({ id, commission });
      return request.promise;
    },
    async close() {
      closed = true;
      await worker?.terminate();
    },
  };
}
