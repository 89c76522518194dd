/** Converts images to a type and a size that every model accepts. */
import PQueue from 'p-queue';
import type { Metadata } from 'sharp';
import { MediaError } from '../errors.ts';

/** https://platform.claude.com/docs/en/build-with-claude/vision: larger images cost more and are scaled down anyway. */
const LONGEST_EDGE = 1568;
/** The same page: 5 MB in base64, which turns three bytes into four. */
const MAX_BYTES = 3_750_000;
/** The types on both that page and https://ai.google.dev/gemini-api/docs/image-understanding. */
const TYPES: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp']);
/** The types that are decoded. SVG is left out, because it is a program that draws an image. */
const READABLE: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif', 'heif']);
/** The largest phone cameras have 50 megapixels. Scaling takes four bytes of memory for each pixel. */
const MAX_PIXELS = 64_000_000;
const QUALITIES = [85, 70, 50] as const;
/** Images decoded in parallel. Each may take 250 MB of memory. */
const CONCURRENCY = 2;

export type PictureFitter = (bytes: Uint8Array) => Promise<Uint8Array>;

/**
 * Returns an image unchanged if models accept it. Otherwise rotates it upright, scales it down and encodes it again, the
 * first frame only for animations. Throws MediaError: `too-large` for too many pixels, `type` for unreadable images.
 */
export function createPictureFitter(): PictureFitter {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  return async (bytes) => {
    const fitted = await queue.add(() => fitPicture(bytes));
    // p-queue resolves to undefined only for tasks with a timeout. This one has none.
    if (!fitted) throw new MediaError('type', 'The image was not read');
    return fitted;
  };
}

async function fitPicture(bytes: Uint8Array): Promise<Uint8Array> {
  const { format, width, height, pages = 1, orientation = 1, hasAlpha, space } = await readHeader(bytes);
  if (width * height > MAX_PIXELS)
    throw new MediaError('too-large', `An image of ${width} × ${height} pixels is too large to decode`);
  const fits = Math.max(width, height) <= LONGEST_EDGE && bytes.byteLength <= MAX_BYTES;
  const isAccepted = TYPES.has(format) && fits && pages === 1 && orientation === 1 && space !== 'cmyk';
  try {
    if (!isAccepted) return await write(bytes, hasAlpha);
    // A truncated image has a valid header. Only decoding it shows the damage.
    await (await open(bytes)).stats();
    return bytes;
  } catch (error) {
    if (error instanceof MediaError) throw error;
    throw new MediaError('type', 'The image is damaged', { cause: error });
  }
}

/** Decodes no pixels, so any size in the header is safe. */
async function readHeader(bytes: Uint8Array): Promise<Metadata> {
  try {
    const metadata = await (await open(bytes, false)).metadata();
    if (READABLE.has(metadata.format)) return metadata;
  } catch (error) {
    throw new MediaError('type', 'The image cannot be read', { cause: error });
  }
  throw new MediaError('type', 'The image type is not supported');
}

/** Decodes only the first frame. The library enforces the limit of pixels too, in case the header is wrong. */
async function open(bytes: Uint8Array, limitInputPixels: number | false = MAX_PIXELS) {
  // Loaded with the first image, because the library is large.
  const { default: sharp } = await import('sharp');
  return sharp(bytes, { limitInputPixels, pages: 1, failOn: 'error', sequentialRead: true });
}

async function write(bytes: Uint8Array, hasAlpha: boolean): Promise<Uint8Array> {
  const scaled = async () =>
    (await open(bytes))
      .rotate()
      .resize({ width: LONGEST_EDGE, height: LONGEST_EDGE, fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: 20 });
  if (hasAlpha) {
    const png = await (await scaled()).png().toBuffer();
    if (png.byteLength <= MAX_BYTES) return png;
  }
  for (const quality of QUALITIES) {
    const jpeg = await (await scaled()).flatten({ background: '#ffffff' }).jpeg({ quality }).toBuffer();
    if (jpeg.byteLength <= MAX_BYTES) return jpeg;
  }
  throw new MediaError('too-large', 'The image is too large even at the lowest quality');
}
