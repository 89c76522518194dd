import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { Refusal } from '../refusal.ts';
import { renderResult } from '../shapes.ts';
import { completedAudio } from './completed.ts';
import { id } from './fields.ts';

const personaBody = z.strictObject({
  taskId: id,
  audioId: id,
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
    if (length <= 0) throw new Refusal('invalid', 'vocalEnd: must be after vocalStart');
    if (length < span.shortest || length > span.longest) {
      throw new Refusal(
        'invalid',
        `vocalEnd: the vocal segment must last ${span.shortest} to ${span.longest} seconds`,
      );
    }
    if (vocalStart >= (audio.seconds ?? 0))
      throw new Refusal('invalid', 'vocalStart: after the end of the song');
    if (audio.recipe.lyrics === null) throw new Refusal('invalid', 'audioId: the song has no vocals');
    if (context.store.personas.find((persona) => persona.audioId === audioId) !== undefined) {
      throw new Refusal('conflict', `audioId: audio ${audioId} already has a persona`);
    }
    const { recipe } = audio;
    const voice = recipe.voice ?? `${recipe.title} ${recipe.style} ${recipe.prompt} ${recipe.take}`;
    const persona = context.store.personas.add({ id: context.randomId(), audioId, name, description, voice });
    return renderResult(context.shape, { personaId: persona.id, name, description });
  });
}
