/** Pictures as every model takes them: of a type that all models read, and no larger than models use. */
import PQueue from 'p-queue';
import type { Metadata } from 'sharp';
import { MediaError } from '../errors.ts';

/** https://platform.claude.com/docs/en/build-with-claude/vision: larger pictures are scaled down there, after they were paid for. */
const LONGEST_EDGE = 1568;
/** The same page: 5 MB in base64, which makes four bytes of three. */
const MOST_BYTES = 3_750_000;
/** What that page and https://ai.google.dev/gemini-api/docs/image-understanding have in common. */
const TYPES: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp']);
/** What is decoded at all. SVG is not a picture but a program that draws one. */
const READABLE: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif', 'heif']);
/** The largest phone cameras take 50 megapixels; four bytes each are held in memory while a picture is scaled. */
const MOST_PIXELS = 64_000_000;
const QUALITIES = [85, 70, 50] as const;
/** Pictures that are decoded at the same time: each may take a quarter of a gigabyte. */
const AT_ONCE = 2;

export type PictureFitter = (bytes: Uint8Array) => Promise<Uint8Array>;

/**
 * Leaves a picture as it is if models take it. Otherwise rotates it upright, scales it down and writes it anew; of an
 * animation the first frame. Throws MediaError: `too-large` for more pixels than are ever decoded, and `type` for what
 * cannot be read.
 */
export function createPictureFitter(): PictureFitter {
  const queue = new PQueue({ concurrency: AT_ONCE });
  return async (bytes) => {
    const fitted = await queue.add(() => fitPicture(bytes));
    // p-queue resolves to nothing only for tasks with a time limit, which this has not.
    if (!fitted) throw new MediaError('type', 'The image was not read');
    return fitted;
  };
}

async function fitPicture(bytes: Uint8Array): Promise<Uint8Array> {
  const { format, width, height, pages = 1, orientation = 1, hasAlpha, space } = await readHeader(bytes);
  if (width * height > MOST_PIXELS)
    throw new MediaError('too-large', `An image of ${width} × ${height} pixels is too large to decode`);
  const fits = Math.max(width, height) <= LONGEST_EDGE && bytes.byteLength <= MOST_BYTES;
  const isAccepted = TYPES.has(format) && fits && pages === 1 && orientation === 1 && space !== 'cmyk';
  try {
    if (!isAccepted) return await write(bytes, hasAlpha);
    // Half an image has a whole header: decoding finds what a model would refuse.
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
    const found = await (await open(bytes, false)).metadata();
    if (READABLE.has(found.format)) return found;
  } catch (error) {
    throw new MediaError('type', 'The image cannot be read', { cause: error });
  }
  throw new MediaError('type', 'The image type is not supported');
}

/** Only the first frame is ever decoded. The bound on pixels is kept by the library, too, for headers that lie. */
async function open(bytes: Uint8Array, limitInputPixels: number | false = MOST_PIXELS) {
  // For the first picture and not for the start: it brings a large library.
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
    if (png.byteLength <= MOST_BYTES) return png;
  }
  for (const quality of QUALITIES) {
    const jpeg = await (await scaled()).flatten({ background: '#ffffff' }).jpeg({ quality }).toBuffer();
    if (jpeg.byteLength <= MOST_BYTES) return jpeg;
  }
  throw new MediaError('too-large', 'The image is too large even at the lowest quality');
}
