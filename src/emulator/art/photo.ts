import { decode as decodeJpeg } from 'jpeg-js';
import { PNG } from 'pngjs';
import type { Canvas } from './canvas.ts';

/** A picture that could not be read: not PNG or JPEG, or broken. */
export class UnreadablePictureError extends Error {
  override readonly name = 'UnreadablePictureError';
}

const largestMegapixels = 25;

/** Reads PNG or JPEG bytes into pixels. Throws UnreadablePictureError for anything else. */
export function decodePicture(bytes: Uint8Array): Canvas {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (data.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) {
      // The header's size is read first: a few bytes can claim a picture that fills the memory.
      if (data.length < 24 || data.readUInt32BE(16) * data.readUInt32BE(20) > largestMegapixels * 1e6) {
        throw new UnreadablePictureError('the picture is too large');
      }
      const image = PNG.sync.read(data);
      return { width: image.width, height: image.height, pixels: Uint8Array.from(image.data) };
    }
    if (data[0] === 0xff && data[1] === 0xd8) {
      const limits = { maxResolutionInMP: largestMegapixels, maxMemoryUsageInMB: 512 };
      const image = decodeJpeg(data, { useTArray: true, formatAsRGBA: true, ...limits });
      return { width: image.width, height: image.height, pixels: Uint8Array.from(image.data) };
    }
  } catch (error) {
    if (error instanceof UnreadablePictureError) throw error;
    throw new UnreadablePictureError('the picture is broken', { cause: error });
  }
  throw new UnreadablePictureError('the picture is neither PNG nor JPEG');
}

/** Draws a part of a picture over the whole canvas: `zoom` 1 covers it, larger comes closer; place 0 to 1. */
export function drawPicture(
  canvas: Canvas,
  picture: Canvas,
  zoom: number,
  placeX: number,
  placeY: number,
): void {
  const scale = Math.max(canvas.width / picture.width, canvas.height / picture.height) * zoom;
  const offsetX = (picture.width - canvas.width / scale) * placeX;
  const offsetY = (picture.height - canvas.height / scale) * placeY;
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const sourceX = Math.min(picture.width - 1.001, Math.max(0, offsetX + x / scale));
      const sourceY = Math.min(picture.height - 1.001, Math.max(0, offsetY + y / scale));
      const left = Math.floor(sourceX);
      const top = Math.floor(sourceY);
      const acrossX = sourceX - left;
      const acrossY = sourceY - top;
      const at = (top * picture.width + left) * 4;
      const below = at + (top + 1 < picture.height ? picture.width * 4 : 0);
      const beside = left + 1 < picture.width ? 4 : 0;
      const to = (y * canvas.width + x) * 4;
      for (let channel = 0; channel < 3; channel++) {
        const upper =
          (picture.pixels[at + channel] ?? 0) * (1 - acrossX) +
          (picture.pixels[at + beside + channel] ?? 0) * acrossX;
        const lower =
          (picture.pixels[below + channel] ?? 0) * (1 - acrossX) +
          (picture.pixels[below + beside + channel] ?? 0) * acrossX;
        canvas.pixels[to + channel] = upper * (1 - acrossY) + lower * acrossY + 0.5;
      }
    }
  }
}
