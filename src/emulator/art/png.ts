import { PNG } from 'pngjs';
import type { Canvas } from './canvas.ts';

/** Encodes a canvas as an opaque PNG without an alpha channel. */
export function encodePng(canvas: Canvas): Buffer {
  const image = new PNG({ width: canvas.width, height: canvas.height });
  image.data = Buffer.from(canvas.pixels.buffer);
  return PNG.sync.write(image, { colorType: 2, deflateLevel: 6, filterType: 4 });
}
