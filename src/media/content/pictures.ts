/** Converts images to a type and a size that every model accepts, and removes what cameras record, such as the place. */
import type { Metadata } from 'sharp';
import { MediaError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';

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
/** No difference is visible. Chroma subsampling would blur coloured text. */
const UNCHANGED_LOOK = { quality: 95, chromaSubsampling: '4:4:4' } as const;
const SECONDS = 20;
/** Images decoded in parallel. Each may take 250 MB of memory. */
const CONCURRENCY = 2;

/** Converts an image of a person. */
type Convert = (bytes: Uint8Array, person: string) => Promise<Uint8Array>;

/** Images are converted in turns between people. Both throw MediaError: `too-large` for too many pixels, `type` for unreadable images. */
export interface Pictures {
  /**
   * Returns an image unchanged if models accept it and it has no metadata. Otherwise rotates it upright, scales it down and
   * encodes it again, the first frame only for animations.
   */
  readonly fit: Convert;
  /** Removes metadata, such as EXIF with its GPS position. Keeps the size and the look. */
  readonly clean: Convert;
}

export function createPictures(): Pictures {
  const inTurn = createFairQueue(CONCURRENCY);
  const queued =
    (convert: typeof fit): Convert =>
    (bytes, person) =>
      inTurn(person, () => convert(bytes).catch(rethrow));
  return { fit: queued(fit), clean: queued(clean) };
}

function rethrow(error: unknown): never {
  if (error instanceof MediaError) throw error;
  throw new MediaError('type', 'The image is damaged', { cause: error });
}

async function fit(bytes: Uint8Array): Promise<Uint8Array> {
  const header = await readHeader(bytes);
  const { format, width, height, pages = 1, orientation = 1, hasAlpha, space } = header;
  const fits = Math.max(width, height) <= LONGEST_EDGE && bytes.byteLength <= MAX_BYTES;
  const isAccepted = TYPES.has(format) && fits && pages === 1 && orientation === 1 && space !== 'cmyk';
  if (!isAccepted) return await write(bytes, hasAlpha);
  if (hasMetadata(header)) {
    const cleaned = await withoutMetadata(bytes, header);
    return cleaned.byteLength <= MAX_BYTES ? cleaned : await write(bytes, hasAlpha);
  }
  // A truncated image has a valid header. Only decoding it shows the damage.
  await (await open(bytes)).stats();
  return bytes;
}

async function clean(bytes: Uint8Array): Promise<Uint8Array> {
  const header = await readHeader(bytes);
  return hasMetadata(header) ? await withoutMetadata(bytes, header) : bytes;
}

const hasMetadata = ({ exif, xmp, iptc, tifftagPhotoshop, comments }: Metadata): boolean =>
  [exif, xmp, iptc, tifftagPhotoshop, comments].some((part) => part !== undefined);

/** Rotates the image upright, because EXIF has the rotation, and converts its colours to sRGB. The library writes no metadata. */
async function withoutMetadata(bytes: Uint8Array, { format, hasAlpha }: Metadata): Promise<Uint8Array> {
  const image = (await open(bytes)).rotate().timeout({ seconds: SECONDS });
  if (format === 'webp') return await image.webp({ quality: UNCHANGED_LOOK.quality }).toBuffer();
  if (format === 'png' || hasAlpha) return await image.png().toBuffer();
  return await image.jpeg(UNCHANGED_LOOK).toBuffer();
}

/** Decodes no pixels, so any size in the header is safe. Throws if the image has too many pixels to decode. */
async function readHeader(bytes: Uint8Array): Promise<Metadata> {
  try {
    const metadata = await (await open(bytes, false)).metadata();
    const { format, width, height } = metadata;
    if (!READABLE.has(format)) throw new MediaError('type', 'The image type is not supported');
    if (width * height <= MAX_PIXELS) return metadata;
    throw new MediaError('too-large', `An image of ${width} × ${height} pixels is too large to decode`);
  } catch (error) {
    if (error instanceof MediaError) throw error;
    throw new MediaError('type', 'The image cannot be read', { cause: error });
  }
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
      .timeout({ seconds: SECONDS });
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
