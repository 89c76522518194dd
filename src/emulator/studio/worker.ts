/** The studio's worker thread. Processes commissions one after the other, in their order. */
import { parentPort } from 'node:worker_threads';
import type { Film } from './painter/film.ts';
import { drawScene, planChange, planScene, type Scene, type Size } from './painter/scene.ts';
import { type Commission, type Piece, type StudioAnswer, UnusableInputError } from './studio.ts';
import { createMp3, decodeAudio, encodeWav } from './synthesizer/codecs.ts';
import { sumStems, toPcm } from './synthesizer/mix.ts';
import { type Pcm, pcmSeconds, type StemName, stemNames } from './synthesizer/recipe.ts';
import { renderStems } from './synthesizer/render.ts';

type VideoCommission = Extract<Commission, { kind: 'video' }>;

/** Number of frames in a film of any length, so that long videos cost no more than short ones. */
const frameBudget = 72;
/** In pixels, as public models return. */
const longestSide = 1536;
const thumbnailSide = 256;

const encodeMp3 = createMp3();
async function produce(commission: Commission): Promise<Piece[]> {
  switch (commission.kind) {
    case 'song':
      return [await mp3('song', sumStems(await renderStems(commission.recipe)))];
    case 'wav': {
      const pcm = sumStems(await renderStems(commission.recipe));
      return [
        { name: 'song', bytes: await encodeWav(pcm), contentType: 'audio/wav', seconds: pcmSeconds(pcm) },
      ];
    }
    case 'stems': {
      const stems = await renderStems(commission.recipe);
      if (commission.split === 'split_stem') {
        const audible = stemNames.filter((name) => stems[name].some((sample) => sample !== 0));
        return Promise.all(audible.map((name) => mp3(name, stems[name])));
      }
      const voices: readonly StemName[] = ['vocals', 'backingVocals'];
      const band = stemNames.filter((name) => !voices.includes(name));
      return [await mp3('vocals', sumStems(stems, voices)), await mp3('instrumental', sumStems(stems, band))];
    }
    case 'picture': {
      const { prompt, avoid, width, height } = commission;
      return [draw(planScene(prompt, avoid), { width, height })];
    }
    case 'changed-picture': {
      const { prompt, photos } = commission;
      const { wholePhoto } = await import('./painter/photo.ts');
      const [first, ...rest] = photos;
      const photo = await wholePhoto(first, longestSide);
      const small = await Promise.all(rest.map((other) => wholePhoto(other, thumbnailSide)));
      const scene = planChange(
        prompt,
        photo.data,
        small.map(({ data }) => data),
      );
      return [draw(scene, photo)];
    }
    case 'music-video': {
      const { withBars } = await loadFilm();
      const sound = sumStems(await renderStems(commission.recipe));
      const seconds = pcmSeconds(sound);
      const scene = withBars(planScene(commission.prompt), sound, frameRateFor(seconds));
      return [await shoot({ width: 480, height: 270, seconds, scene, sound })];
    }
    case 'video': {
      const { panOver } = await loadFilm();
      const { prompt, width, height, seconds, image } = commission;
      const scene = image === null ? planScene(prompt) : await panOver(image, prompt, commission);
      return [await shoot({ width, height, seconds, scene, sound: await soundOf(commission) })];
    }
    default:
      return commission satisfies never;
  }
}

function draw(scene: Scene, { width, height }: Size): Piece {
  const bytes = Uint8Array.from(drawScene(scene, width, height, { signed: true }).asPng());
  return { name: 'picture', bytes, contentType: 'image/png' };
}

async function mp3(name: Piece['name'], pcm: Pcm): Promise<Piece> {
  return { name, bytes: (await encodeMp3)(pcm), contentType: 'audio/mpeg', seconds: pcmSeconds(pcm) };
}

function frameRateFor(seconds: number): number {
  return Math.min(16, Math.max(5, Math.round(frameBudget / seconds)));
}

/** Loaded with the first film, because the encoders are large and a studio should open quickly. */
const loadFilm = () => import('./painter/film.ts');

async function shoot(film: Omit<Film, 'frameRate'>): Promise<Piece> {
  const { shootFilm } = await loadFilm();
  const bytes = await shootFilm({ ...film, frameRate: frameRateFor(film.seconds) });
  return { name: 'video', bytes, contentType: 'video/mp4', seconds: film.seconds };
}

async function soundOf({ prompt, seconds, sound }: VideoCommission): Promise<Pcm | null> {
  if (sound === 'none') return null;
  if (sound !== 'composed') return toPcm(await decodeAudio(sound, seconds), 32767);
  const song = { title: 'soundtrack', style: '', lyrics: null, voice: null, take: 0, source: null };
  return sumStems(await renderStems({ ...song, prompt, seconds }));
}

async function answerTo(id: number, commission: Commission): Promise<StudioAnswer> {
  try {
    return { id, pieces: await produce(commission) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id, message, isUnusable: error instanceof UnusableInputError };
  }
}

let queue = Promise.resolve();
parentPort?.on('message', ({ id, commission }: { id: number; commission: Commission }) => {
  queue = queue.then(async () => parentPort?.postMessage(await answerTo(id, commission)));
});
