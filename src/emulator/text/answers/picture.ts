import sharp from 'sharp';
import type { Picture } from '../conversation.ts';

/** Larger pictures are described by their header alone, so that an answer comes soon. */
const mostPixelsSeen = 25_000_000;

const colours = {
  black: '#0f0f14',
  white: '#f5f5f5',
  grey: '#808080',
  red: '#c82828',
  orange: '#eb8c32',
  yellow: '#ebdc50',
  green: '#3c9650',
  teal: '#3c96a0',
  blue: '#325ac8',
  navy: '#141946',
  purple: '#6e3296',
  pink: '#f096b9',
  brown: '#6e462d',
  beige: '#e6d2af',
} as const;
/** What can be said of a picture: its type, its size, and the colour it has most of. */
export async function describePicture(picture: Picture): Promise<string> {
  if (picture.kind === 'address') return `a picture at ${picture.url}, which I can only see by its address`;
  const image = sharp(picture.bytes);
  try {
    const { format, width, height } = await image.metadata();
    const about = `a ${format.toUpperCase()} picture of ${width} × ${height} pixels`;
    if (width * height > mostPixelsSeen) return about;
    return await image.stats().then(
      ({ dominant: { r, g, b } }) => `${about}, mostly ${nearestColour([r, g, b])}`,
      () => `${about}, though the rest of it is broken`,
    );
  } catch {
    return `a file sent as ${picture.claimedType}, which I cannot look into`;
  }
}

function nearestColour(pixel: readonly number[]): string {
  const distances = Object.entries(colours).map(([name, colour]) => {
    const channels = Buffer.from(colour.slice(1), 'hex');
    return { name, distance: pixel.reduce((sum, level, at) => sum + (level - (channels[at] ?? 0)) ** 2, 0) };
  });
  return distances.reduce((best, other) => (other.distance < best.distance ? other : best)).name;
}
