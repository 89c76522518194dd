import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { RefusedRequest } from '../requests/refusal.ts';
import { voiceOf } from '../studio/synthesizer/voice.ts';
import { shortId } from './fields.ts';
import { completedAudio } from './songs.ts';

const personaBody = z.strictObject({
  taskId: shortId,
  audioId: shortId,
  name: z.string().trim().min(1).max(80),
  description: z.string().trim().min(1).max(1000),
  vocalStart: z.number().min(0).default(0),
  vocalEnd: z.number().positive().default(30),
  style: z.string().max(1000).optional(),
});
/** Bounds of the public API, in seconds. */
const span = { shortest: 10, longest: 30 } as const;

/** `POST /music/generate-persona`: synchronous, one persona an audio, and only from songs with a voice. */
export function registerPersonaRoute(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate-persona', async (request) => {
    const { taskId, audioId, name, description, vocalStart, vocalEnd } = readBody(personaBody, request);
    const audio = completedAudio(context, taskId, audioId);
    const length = vocalEnd - vocalStart;
    if (length < span.shortest || length > span.longest) {
      const message = `vocalEnd: must be ${span.shortest} to ${span.longest} seconds after vocalStart`;
      throw new RefusedRequest('invalid', message);
    }
    if (vocalStart >= (audio.seconds ?? 0))
      throw new RefusedRequest('invalid', 'vocalStart: after the end of the song');
    if (audio.recipe.lyrics === null) throw new RefusedRequest('invalid', 'audioId: the song has no vocals');
    if (context.store.personas.values().some((persona) => persona.audioId === audioId)) {
      throw new RefusedRequest('conflict', `audioId: audio ${audioId} already has a persona`);
    }
    const id = context.randomId();
    context.store.personas.add({ id, audioId, voice: voiceOf(audio.recipe) });
    return context.shape.result({ personaId: id, name, description });
  });
}
