import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, keepFile, makeFile, readBody } from '../context.ts';
import { RefusedRequest } from '../requests.ts';
import type { TaskReport } from '../shapes.ts';
import type { MusicTaskKind } from '../store.ts';
import type { Piece } from '../studio/studio.ts';
import type { SongRecipe } from '../studio/synthesizer/recipe.ts';
import { voiceOf } from '../studio/synthesizer/voice.ts';
import { shortId, webUrl } from './songs.ts';
import { acceptTask, completedAudio, completedSongTask, createTask, picturePrompt } from './tasks.ts';

const wavBody = z.strictObject({ taskId: shortId, audioId: shortId, callBackUrl: webUrl });
const stemsBody = wavBody.extend({
  type: z
    .enum(['separate_vocal', 'split_stem'], { error: 'must be separate_vocal or split_stem' })
    .default('separate_vocal'),
});
const coverBody = wavBody.omit({ audioId: true });
const coverSize = 768;

/** The routes for completed songs: `vocal-removal`, `wav-generate`, `mp4-generate`, `generate-cover`. */
export function registerDerivedRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const derive = <Body extends z.output<typeof wavBody>>(
    path: string,
    schema: z.ZodType<Body>,
    { kind, atSeconds }: { kind: MusicTaskKind; atSeconds: number },
    make: (recipe: SongRecipe, body: Body) => Promise<TaskReport>,
  ): void => {
    server.post(path, async (request) => {
      const body = readBody(schema, request);
      const { recipe } = completedAudio(context, body.taskId, body.audioId);
      const stage = { atSeconds, make: () => make(recipe, body) };
      return acceptTask(context, request, createTask(context, kind), body.callBackUrl, [stage]);
    });
  };
  derive('/music/vocal-removal', stemsBody, { kind: 'stems', atSeconds: 2 }, async (recipe, { type }) => {
    const pieces = await context.studio.produce({ kind: 'stems', recipe, split: type });
    const stems = pieces.map((piece) => [stemWord(piece.name), keepFile(context, piece)]);
    return { kind: 'stems', stems: Object.fromEntries(stems) };
  });
  derive('/music/wav-generate', wavBody, { kind: 'wav', atSeconds: 1.5 }, async (recipe) => ({
    kind: 'wav',
    url: await makeFile(context, { kind: 'wav', recipe }),
  }));
  derive('/music/mp4-generate', wavBody, { kind: 'video', atSeconds: 3 }, async (recipe) => {
    const prompt = picturePrompt(recipe, recipe.take);
    return { kind: 'video', url: await makeFile(context, { kind: 'music-video', recipe, prompt }) };
  });

  server.post('/music/generate-cover', async (request) => {
    const { taskId, callBackUrl } = readBody(coverBody, request);
    const [audio] = completedSongTask(context, taskId).audios;
    const make = async () => {
      if (audio === undefined) throw new Error('the task has no song');
      // Numbers above the takes', so that the covers differ from the songs' first images.
      const images = [3, 4].map((number) => {
        const prompt = picturePrompt(audio.recipe, number);
        return makeFile(context, { kind: 'picture', prompt, width: coverSize, height: coverSize });
      });
      return { kind: 'cover' as const, images: await Promise.all(images) };
    };
    return acceptTask(context, request, createTask(context, 'cover'), callBackUrl, [{ atSeconds: 2, make }]);
  });
}

/** The name of a piece in the music routes: `vocal`, `backing_vocals`, `drums`. */
function stemWord(name: Piece['name']): string {
  if (name === 'vocals') return 'vocal';
  return name === 'backingVocals' ? 'backing_vocals' : name;
}

const personaBody = z.strictObject({
  taskId: shortId,
  audioId: shortId,
  name: z.string().trim().min(1).max(80),
  description: z.string().trim().min(1).max(1000),
  vocalStart: z.number().min(0).default(0),
  vocalEnd: z.number().positive().default(30),
  style: z.string().max(1000).optional(),
});
/** Limits of the public API, in seconds. */
const spanSeconds = { shortest: 10, longest: 30 } as const;

/** `POST /music/generate-persona`: synchronous, one persona per audio, only for songs with vocals. */
export function registerPersonaRoute(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate-persona', async (request) => {
    const { taskId, audioId, name, description, vocalStart, vocalEnd } = readBody(personaBody, request);
    const audio = completedAudio(context, taskId, audioId);
    const length = vocalEnd - vocalStart;
    if (length < spanSeconds.shortest || length > spanSeconds.longest) {
      const message = `vocalEnd: must be ${spanSeconds.shortest} to ${spanSeconds.longest} seconds after vocalStart`;
      throw new RefusedRequest('invalid', message);
    }
    if (vocalStart >= (audio.seconds ?? 0))
      throw new RefusedRequest('invalid', 'vocalStart: must be before the end of the song');
    if (audio.recipe.lyrics === null) throw new RefusedRequest('invalid', 'audioId: the song has no vocals');
    if (context.store.personas.values().some((persona) => persona.audioId === audioId)) {
      throw new RefusedRequest('conflict', `audioId: audio ${audioId} already has a persona`);
    }
    const id = context.randomId();
    context.store.personas.add({ id, audioId, voice: voiceOf(audio.recipe) });
    return context.shape.result({ personaId: id, name, description });
  });
}
