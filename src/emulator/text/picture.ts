import { decodePicture, UnreadablePictureError } from '../art/photo.ts';
import type { Picture } from './conversation.ts';

/** Larger pictures are described by their header alone, so that answering never holds up the thread. */
const mostPixelsLookedAt = 1_500_000;

const colourNames: readonly (readonly [string, number, number, number])[] = [
  ['black', 15, 15, 20],
  ['white', 245, 245, 245],
  ['grey', 128, 128, 128],
  ['red', 200, 40, 40],
  ['orange', 235, 140, 50],
  ['yellow', 235, 220, 80],
  ['green', 60, 150, 80],
  ['teal', 60, 150, 160],
  ['blue', 50, 90, 200],
  ['navy', 20, 25, 70],
  ['purple', 110, 50, 150],
  ['pink', 240, 150, 185],
  ['brown', 110, 70, 45],
  ['beige', 230, 210, 175],
];

/** What can be said of a picture: its type, its size, and the colour it has most of. */
export function describePicture(picture: Picture): string {
  if (picture.kind === 'address') return `a picture at ${picture.url}, which I can only see by its address`;
  const data = Buffer.from(picture.bytes);
  const size = sizeOf(data);
  if (size === null) return `a file sent as ${picture.claimedType}, in which I can see no picture`;
  const about = `a ${size.type} picture of ${size.width} × ${size.height} pixels`;
  if (size.type !== 'PNG' && size.type !== 'JPEG') return about;
  if (size.width * size.height > mostPixelsLookedAt) return about;
  try {
    return `${about}, mostly ${dominantColour(decodePicture(data).pixels)}`;
  } catch (error) {
    if (error instanceof UnreadablePictureError) return `${about}, though the rest of it is broken`;
    throw error;
  }
}

function dominantColour(pixels: Uint8Array): string {
  const counts = new Map<string, number>();
  const step = Math.max(1, Math.floor(pixels.length / 4 / 4000)) * 4;
  for (let at = 0; at + 2 < pixels.length; at += step) {
    const name = nearestColour(pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [most] = [...counts].sort((left, right) => right[1] - left[1]);
  return most?.[0] ?? 'nothing';
}

function nearestColour(red: number, green: number, blue: number): string {
  let best = 'grey';
  let distance = Number.POSITIVE_INFINITY;
  for (const [name, ...colour] of colourNames) {
    const apart = (red - colour[0]) ** 2 + (green - colour[1]) ** 2 + (blue - colour[2]) ** 2;
    if (apart < distance) {
      distance = apart;
      best = name;
    }
  }
  return best;
}

interface PictureSize {
  readonly type: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  readonly width: number;
  readonly height: number;
}

/** Type and size from the first bytes; null when they are of no picture known here. */
function sizeOf(data: Buffer): PictureSize | null {
  if (data.length >= 24 && data.toString('latin1', 1, 4) === 'PNG') {
    return { type: 'PNG', width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  }
  if (data.length >= 10 && data.toString('latin1', 0, 3) === 'GIF') {
    return { type: 'GIF', width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  }
  if (data.length >= 30 && data.toString('latin1', 8, 12) === 'WEBP') return webpSize(data);
  return data[0] === 0xff && data[1] === 0xd8 ? jpegSize(data) : null;
}

function webpSize(data: Buffer): PictureSize | null {
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { type: 'WebP', width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { type: 'WebP', width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = data.readUInt32LE(21);
      return { type: 'WebP', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

/** Walks the segments of a JPEG to its frame header, which has the size. */
function jpegSize(data: Buffer): PictureSize | null {
  let at = 2;
  while (at + 9 < data.length && data[at] === 0xff) {
    const marker = data[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { type: 'JPEG', width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
    at += 2 + data.readUInt16BE(at + 2);
  }
  return null;
}
