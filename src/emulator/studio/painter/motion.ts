import { createRandom } from '../../random.ts';
import { UnusableInputError } from '../studio.ts';
import { type Pcm, sampleRate } from '../synthesizer/recipe.ts';
import { glow, radialGradient, type Scene } from './scene.ts';

const barCount = 24;
/** A few bytes can claim a picture that fills the memory. */
const mostPhotoPixels = 25_000_000;

/** A scene with bars that follow the sound. */
export function withBars(scene: Scene, sound: Pcm, frameRate: number): Scene {
  return (frame, time) => {
    const step = frame.width / barCount;
    const bars = Array.from({ length: barCount }, (_, bar) => {
      const from = Math.floor((time + (bar / barCount - 0.5) / frameRate) * sampleRate);
      const level = loudness(sound, from, Math.floor(sampleRate / frameRate / barCount));
      return `M${step * (bar + 0.17)} ${frame.height - 1.5}v${-35 * level - 0.1}h${step * 0.66}v${35 * level + 0.1}Z`;
    });
    return `${scene(frame, time)}<path fill="#ffffff" fill-opacity=".6" d="${bars.join('')}"/>`;
  };
}

/** Root mean square of a stretch of samples, 0 to about 1. */
function loudness(pcm: Pcm, from: number, length: number): number {
  const samples = pcm.subarray(2 * Math.max(0, from), 2 * Math.max(0, from + length));
  const sum = samples.reduce((total, sample) => total + (sample / 32768) ** 2, 0);
  return Math.min(1, Math.sqrt(sum / Math.max(1, 2 * length)) * 1.6);
}

/** A PNG or JPEG that covers a size in pixels, as PNG in base64. Throws UnusableInputError. */
async function readPhoto(photo: Uint8Array, width: number, height: number): Promise<string> {
  // Loaded with the first photo: a studio should open quickly.
  const { default: sharp } = await import('sharp');
  try {
    const picture = sharp(photo, { limitInputPixels: mostPhotoPixels });
    const { format } = await picture.metadata();
    if (format !== 'png' && format !== 'jpeg') throw new Error(`the format is ${format}`);
    return (await picture.resize(width, height).png().toBuffer()).toString('base64');
  } catch (cause) {
    const what = 'the picture is broken, too large, or neither PNG nor JPEG';
    throw new UnusableInputError(what, { cause });
  }
}

/** A slow camera move over a PNG or JPEG, with specks of light. Throws UnusableInputError. */
export async function moveOver(
  photo: Uint8Array,
  prompt: string,
  film: { readonly width: number; readonly height: number; readonly seconds: number },
): Promise<Scene> {
  const zoomed = 1.18;
  const data = await readPhoto(photo, Math.round(film.width * zoomed), Math.round(film.height * zoomed));
  return (frame, time) => {
    const random = createRandom(`${prompt} camera`);
    const part = time / film.seconds;
    const scale = 1 + (zoomed - 1) * part;
    const shift = (length: number): number => -length * (scale - 1) * (0.5 + (random.next() - 0.5) * part);
    const specks = Array.from({ length: 14 }, (_, speck) => {
      const x = ((random.next() + time * random.between(-0.03, 0.03) + 1) % 1) * frame.width;
      const y = ((random.next() - time * random.between(0.02, 0.06) + 1) % 1) * frame.height;
      return glow('speck', x, y, random.between(2, 5) * (1 + 0.3 * Math.sin(time * 2 + speck)));
    });
    return (
      `<image width="${frame.width}" height="${frame.height}" preserveAspectRatio="xMidYMid slice" ` +
      `transform="translate(${shift(frame.width)} ${shift(frame.height)}) scale(${scale})" ` +
      `xlink:href="data:image/png;base64,${data}"/>${radialGradient('speck', '#fffae2', 0.4)}${specks.join('')}`
    );
  };
}
