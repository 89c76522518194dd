import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import type { Piece } from '../studio/commission.ts';
import { completedAudio, completedSongTask } from './completed.ts';
import { httpUrl, id } from './fields.ts';
import { picturePrompt } from './songs.ts';
import { acceptTask, createTask } from './task.ts';

const songBody = { taskId: id, audioId: id, callBackUrl: httpUrl } as const;
const stemsBody = z.strictObject({
  ...songBody,
  type: z
    .enum(['separate_vocal', 'split_stem'], { error: 'must be separate_vocal or split_stem' })
    .default('separate_vocal'),
});
const wavBody = z.strictObject(songBody);
const videoBody = z.strictObject({
  ...songBody,
  author: z.string().max(50).optional(),
  domainName: z.string().max(50).optional(),
});
const coverBody = z.strictObject({ taskId: id, callBackUrl: httpUrl });
const coverSize = 768;

/** What a completed song can be turned into: `vocal-removal`, `wav-generate`, `mp4-generate`, `generate-cover`. */
export function registerDerivedRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const keep = (piece: Piece | undefined): string => {
    if (piece === undefined) throw new Error('the studio made nothing');
    return context.files.url(context.files.add(piece.bytes, piece.contentType));
  };

  server.post('/music/vocal-removal', async (request) => {
    const { taskId, audioId, type, callBackUrl } = readBody(stemsBody, request);
    const { recipe } = completedAudio(context, taskId, audioId);
    const task = createTask(context, 'stems');
    const make = async () => {
      const pieces = await context.studio.produce({ kind: 'stems', recipe, split: type });
      const stems = Object.fromEntries(pieces.map((piece) => [stemWord(piece.name), keep(piece)]));
      return { kind: 'stems' as const, stems };
    };
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 2, make }]);
  });

  server.post('/music/wav-generate', async (request) => {
    const { taskId, audioId, callBackUrl } = readBody(wavBody, request);
    const { recipe } = completedAudio(context, taskId, audioId);
    const task = createTask(context, 'wav');
    const make = async () => {
      const [piece] = await context.studio.produce({ kind: 'wav', recipe });
      return { kind: 'wav' as const, url: keep(piece) };
    };
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 1.5, make }]);
  });

  server.post('/music/mp4-generate', async (request) => {
    const { taskId, audioId, callBackUrl } = readBody(videoBody, request);
    const { recipe } = completedAudio(context, taskId, audioId);
    const task = createTask(context, 'video');
    const make = async () => {
      const prompt = picturePrompt(recipe, recipe.take);
      const [piece] = await context.studio.produce({ kind: 'music-video', recipe, prompt });
      return { kind: 'video' as const, url: keep(piece) };
    };
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 3, make }]);
  });

  server.post('/music/generate-cover', async (request) => {
    const { taskId, callBackUrl } = readBody(coverBody, request);
    const recipe = completedSongTask(context, taskId).audios[0]?.recipe;
    const task = createTask(context, 'cover');
    const make = async () => {
      if (recipe === undefined) throw new Error('the task has no song');
      const commission = {
        kind: 'picture',
        avoid: '',
        width: coverSize,
        height: coverSize,
        watermark: false,
      } as const;
      // Numbers past the takes', so that the covers differ from the pictures that the songs came with.
      const drawn = await Promise.all(
        [3, 4].map((number) =>
          context.studio.produce({ ...commission, prompt: picturePrompt(recipe, number) }),
        ),
      );
      return { kind: 'cover' as const, images: drawn.map(([piece]) => keep(piece)) };
    };
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 2, make }]);
  });
}

/** The word of the music routes for a piece: `vocal`, `backing_vocals`, `drums`. */
function stemWord(name: Piece['name']): string {
  if (name === 'vocals') return 'vocal';
  return name === 'backingVocals' ? 'backing_vocals' : name;
}
