import { type Canvas, fillDisc, fillPolygon, glow } from '../art/canvas.ts';
import type { Film } from '../art/film.ts';
import { decodePicture, drawPicture, UnreadablePictureError } from '../art/photo.ts';
import { encodePng } from '../art/png.ts';
import { paintScene, planScene } from '../art/scene.ts';
import { createRandom } from '../random.ts';
import { decodeAudio, UnreadableAudioError } from '../synth/decode.ts';
import { createMp3, encodeWav } from '../synth/encode.ts';
import { isSilent, sumStems } from '../synth/mix.ts';
import {
  type Pcm,
  pcmSeconds,
  recipeKey,
  type SongRecipe,
  type StemName,
  type Stems,
  sampleRate,
  stemNames,
} from '../synth/recipe.ts';
import { renderStems } from '../synth/render.ts';
import { type Commission, type Piece, UnusableInputError } from './commission.ts';

/** Frames of a film, whatever its length: keeps a long video as cheap as a short one. */
const frameBudget = 72;
const keptRenders = 2;

/** Makes the function that carries out commissions, one at a time; it keeps the last songs it performed. */
export async function createProducer(): Promise<(commission: Commission) => Promise<Piece[]>> {
  const encodeMp3 = await createMp3();
  const renders = new Map<string, Stems>();

  const perform = async (recipe: SongRecipe): Promise<Stems> => {
    const key = recipeKey(recipe);
    const stems = renders.get(key) ?? (await renderStems(recipe));
    renders.delete(key);
    renders.set(key, stems);
    for (const oldest of renders.keys()) if (renders.size > keptRenders) renders.delete(oldest);
    return stems;
  };
  const mp3 = (name: Piece['name'], pcm: Pcm): Piece => ({
    name,
    bytes: Uint8Array.from(encodeMp3(pcm)),
    contentType: 'audio/mpeg',
    seconds: pcmSeconds(pcm),
  });

  const produce = async (commission: Commission): Promise<Piece[]> => {
    switch (commission.kind) {
      case 'song':
        return [mp3('song', sumStems(await perform(commission.recipe)))];
      case 'wav': {
        const pcm = sumStems(await perform(commission.recipe));
        const seconds = pcmSeconds(pcm);
        return [{ name: 'song', bytes: Uint8Array.from(encodeWav(pcm)), contentType: 'audio/wav', seconds }];
      }
      case 'stems': {
        const stems = await perform(commission.recipe);
        if (commission.split === 'split_stem') {
          return stemNames.filter((name) => !isSilent(stems[name])).map((name) => mp3(name, stems[name]));
        }
        const voices: readonly StemName[] = ['vocals', 'backingVocals'];
        const band = stemNames.filter((name) => !voices.includes(name));
        return [mp3('vocals', sumStems(stems, voices)), mp3('instrumental', sumStems(stems, band))];
      }
      case 'picture':
        return [{ name: 'picture', bytes: Uint8Array.from(drawStill(commission)), contentType: 'image/png' }];
      case 'music-video': {
        const pcm = sumStems(await perform(commission.recipe));
        return [await film(musicVideo(commission.prompt, pcm))];
      }
      case 'video':
        return [await film(await promptVideo(commission, perform))];
      default:
        return commission satisfies never;
    }
  };

  return async (commission) => {
    try {
      return await produce(commission);
    } catch (error) {
      if (error instanceof UnreadableAudioError) throw new UnusableInputError('audio', error.message);
      if (error instanceof UnreadablePictureError) throw new UnusableInputError('picture', error.message);
      throw error;
    }
  };
}

async function film(plan: Film): Promise<Piece> {
  // Loaded with the first film: the encoders are large, and a studio should open quickly.
  const { shootFilm } = await import('../art/film.ts');
  const bytes = Uint8Array.from(await shootFilm(plan));
  return { name: 'video', bytes, contentType: 'video/mp4', seconds: plan.seconds };
}

function drawStill(commission: Extract<Commission, { kind: 'picture' }>): Buffer {
  const canvas = paintScene(
    planScene(commission.prompt, commission.avoid),
    commission.width,
    commission.height,
  );
  if (commission.watermark) {
    const radius = Math.min(canvas.width, canvas.height) * 0.02;
    const corner = { x: canvas.width - radius * 2, y: canvas.height - radius * 2 };
    fillDisc(canvas, corner, radius, [255, 255, 255], 0.7);
    fillDisc(canvas, corner, radius * 0.6, [60, 60, 80], 0.7);
  }
  return encodePng(canvas);
}

function frameRateFor(seconds: number): number {
  return Math.min(16, Math.max(5, Math.round(frameBudget / seconds)));
}

/** The song's scene with bars that follow the sound. */
function musicVideo(prompt: string, pcm: Pcm): Film {
  const seconds = pcmSeconds(pcm);
  const scene = planScene(prompt);
  const frameRate = frameRateFor(seconds);
  const barCount = 24;
  return {
    width: 480,
    height: 270,
    seconds,
    frameRate,
    sound: pcm,
    paint(canvas, time) {
      scene.paint(canvas, time);
      for (let bar = 0; bar < barCount; bar++) {
        const from = Math.floor((time + (bar / barCount - 0.5) / frameRate) * sampleRate);
        const level = loudness(pcm, from, Math.floor(sampleRate / frameRate / barCount));
        const width = canvas.width / (barCount * 1.5);
        const x = (canvas.width * (bar + 0.5)) / barCount - width / 2;
        const y = canvas.height - 4 - level * canvas.height * 0.35;
        const corners = [
          { x, y },
          { x: x + width, y },
          { x: x + width, y: canvas.height - 4 },
          { x, y: canvas.height - 4 },
        ];
        fillPolygon(canvas, corners, [255, 255, 255], 0.6);
      }
    },
  };
}

/** Root mean square of a stretch of samples, 0 to about 1. */
function loudness(pcm: Pcm, from: number, length: number): number {
  let sum = 0;
  for (let index = Math.max(0, from); index < from + length; index++)
    sum += ((pcm.left[index] ?? 0) / 32768) ** 2;
  return Math.min(1, Math.sqrt(sum / Math.max(1, length)) * 1.6);
}

async function promptVideo(
  commission: Extract<Commission, { kind: 'video' }>,
  perform: (recipe: SongRecipe) => Promise<Stems>,
): Promise<Film> {
  const { prompt, width, height, seconds, image, shots } = commission;
  const photo = image === null ? null : decodePicture(image);
  const scenes = shots === 'multi' ? [planScene(prompt), planScene(`${prompt} again`)] : [planScene(prompt)];
  const cut = seconds / scenes.length;
  return {
    width,
    height,
    seconds,
    frameRate: frameRateFor(seconds),
    sound: await soundtrack(commission, perform),
    paint(canvas, time) {
      if (photo !== null) animatePhoto(canvas, photo, prompt, time, seconds);
      else scenes[Math.min(scenes.length - 1, Math.floor(time / cut))]?.paint(canvas, time);
    },
  };
}

async function soundtrack(
  commission: Extract<Commission, { kind: 'video' }>,
  perform: (recipe: SongRecipe) => Promise<Stems>,
): Promise<Pcm | null> {
  const { prompt, seconds, sound } = commission;
  if (sound === 'none') return null;
  if (sound === 'composed') {
    const song = {
      title: 'soundtrack',
      style: '',
      prompt,
      lyrics: null,
      voice: null,
      seconds,
      take: 0,
      source: null,
    };
    return sumStems(await perform(song));
  }
  const upload = await decodeAudio(sound, seconds);
  const round = (channel: Float32Array): Int16Array =>
    Int16Array.from(channel, (sample) => Math.round(Math.min(1, Math.max(-1, sample)) * 32767));
  return { left: round(upload.left), right: round(upload.right) };
}

/** A slow camera move over a picture, with motes of light that the prompt places. */
function animatePhoto(canvas: Canvas, photo: Canvas, prompt: string, time: number, seconds: number): void {
  const random = createRandom(`${prompt} camera`);
  const part = time / seconds;
  const goalX = random.next();
  const goalY = random.next();
  drawPicture(canvas, photo, 1 + 0.18 * part, 0.5 + (goalX - 0.5) * part, 0.5 + (goalY - 0.5) * part);
  for (let mote = 0; mote < 14; mote++) {
    const x = ((random.next() + time * random.between(-0.03, 0.03) + 1) % 1) * canvas.width;
    const y = ((random.next() - time * random.between(0.02, 0.06) + 1) % 1) * canvas.height;
    const light = 0.25 + 0.25 * Math.sin(time * 2 + mote);
    glow(canvas, { x, y }, canvas.height * random.between(0.02, 0.06), [255, 250, 226], light);
  }
}
