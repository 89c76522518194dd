/** Reads images that people send. Loaded with the first one, because the library is large. */
import sharp from 'sharp';
import { UnusableInputError } from '../studio.ts';
import type { Size } from './scene.ts';

/** A limit, because a few bytes can declare an image that fills the memory. */
const maxPixels = 25_000_000;
const formats: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp']);

export interface Photo extends Size {
  /** A PNG in base64. */
  readonly data: string;
}

/** Scales an image to cover a size in pixels. Throws UnusableInputError. */
export function coveringPhoto(photo: Uint8Array, { width, height }: Size): Promise<Photo> {
  return read(photo, (picture) => picture.resize(width, height));
}

/** Keeps the size of an image, up to `longest` pixels on its longer side. Throws UnusableInputError. */
export function wholePhoto(photo: Uint8Array, longest: number): Promise<Photo> {
  return read(photo, (picture) =>
    picture.resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true }),
  );
}

async function read(photo: Uint8Array, scaled: (picture: sharp.Sharp) => sharp.Sharp): Promise<Photo> {
  try {
    const picture = sharp(photo, { limitInputPixels: maxPixels });
    const { format } = await picture.metadata();
    if (!formats.has(format)) throw new Error(`the format is ${format}`);
    const { data, info } = await scaled(picture).png().toBuffer({ resolveWithObject: true });
    return { data: data.toString('base64'), width: info.width, height: info.height };
  } catch (cause) {
    const what = 'the image is damaged, too large, or neither PNG, JPEG nor WebP';
    throw new UnusableInputError(what, { cause });
  }
}
