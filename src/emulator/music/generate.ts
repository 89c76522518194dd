import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { titleFrom, writeLyrics } from '../lyrics.ts';
import { Refusal } from '../refusal.ts';
import type { SongRecipe } from '../synth/recipe.ts';
import { httpUrl, id, musicModel, simplePromptLimit, songTexts, textLimits } from './fields.ts';
import { addAudios, songStages } from './songs.ts';
import { acceptTask, createTask } from './task.ts';

/** Upload-cover takes the same fields, with the same meanings. */
export const generateBody = z.strictObject({
  customMode: z.boolean(),
  instrumental: z.boolean(),
  model: musicModel,
  callBackUrl: httpUrl,
  ...songTexts,
});
const extendBody = z.strictObject({
  audioId: id,
  model: musicModel,
  callBackUrl: httpUrl,
  defaultParamFlag: z.boolean(),
  continueAt: z.number().positive().optional(),
  ...songTexts,
});

/** `POST /music/generate` and `POST /music/extend`. */
export function registerGenerateRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate', async (request) => {
    const body = readBody(generateBody, request);
    const recipe = songRecipe(context, body);
    const task = createTask(context, 'songs');
    addAudios(context, task, body.model, takes(recipe));
    return acceptTask(context, request, task, body.callBackUrl, songStages(context, task));
  });

  server.post('/music/extend', async (request) => {
    const body = readBody(extendBody, request);
    const source = context.store.audios.get(body.audioId);
    if (source === undefined) throw new Refusal('not found', `audioId: no audio ${body.audioId}`);
    if (source.seconds === null)
      throw new Refusal('invalid', `audioId: audio ${body.audioId} is not complete yet`);
    if (source.model !== body.model) {
      throw new Refusal('invalid', `model: must be the source audio's, ${source.model}`);
    }
    const { defaultParamFlag: override, prompt = '', style = '', title = '', continueAt } = body;
    if (override) checkOverride(body, source.seconds);
    const { recipe } = source;
    const extension: SongRecipe = {
      ...recipe,
      ...(override ? { title, style, prompt, lyrics: recipe.lyrics === null ? null : sungText(prompt) } : {}),
      take: recipe.take + 2,
      voice: body.personaId === undefined ? recipe.voice : voiceOf(context, body.personaId),
      source: {
        kind: 'song',
        recipe,
        continueAt: override ? (continueAt ?? source.seconds) : source.seconds,
      },
    };
    const task = createTask(context, 'songs');
    addAudios(context, task, body.model, [extension]);
    return acceptTask(context, request, task, body.callBackUrl, songStages(context, task));
  });
}

function checkOverride(body: z.output<typeof extendBody>, seconds: number): void {
  for (const field of ['prompt', 'style', 'title'] as const) {
    if ((body[field] ?? '') === '')
      throw new Refusal('invalid', `${field}: required when defaultParamFlag is true`);
  }
  if (body.continueAt === undefined)
    throw new Refusal('invalid', 'continueAt: required when defaultParamFlag is true');
  if (body.continueAt >= seconds)
    throw new Refusal('invalid', `continueAt: must be below the song's ${seconds} s`);
  checkTexts(body, true);
}

/** Checks what the contract asks of a song in either mode, and turns it into a recipe. */
export function songRecipe(
  context: EmulatorContext,
  body: {
    readonly customMode: boolean;
    readonly instrumental: boolean;
    readonly model: z.output<typeof musicModel>;
    readonly prompt?: string | undefined;
    readonly style?: string | undefined;
    readonly title?: string | undefined;
    readonly personaId?: string | undefined;
    readonly vocalGender?: 'm' | 'f' | undefined;
  },
): SongRecipe {
  const { customMode, instrumental, prompt = '', style = '', title = '' } = body;
  if (customMode) {
    if (style.trim() === '') throw new Refusal('invalid', 'style: required when customMode is true');
    if (title.trim() === '') throw new Refusal('invalid', 'title: required when customMode is true');
    if (!instrumental && prompt.trim() === '') {
      throw new Refusal(
        'invalid',
        'prompt: required when customMode is true and instrumental is false (the lyrics)',
      );
    }
  } else if (prompt.trim() === '') throw new Refusal('invalid', 'prompt: required when customMode is false');
  checkTexts(body, customMode);
  const lyrics = customMode ? sungText(prompt) : writeLyrics(prompt, 0, 'short').text;
  return {
    title: customMode ? title : titleFrom(prompt),
    style: customMode ? style : '',
    prompt,
    lyrics: instrumental ? null : lyrics,
    voice: body.personaId === undefined ? null : voiceOf(context, body.personaId),
    seconds: context.songSeconds,
    take: 0,
    source: null,
  };
}

/** Refuses texts longer than the model takes (413, as upstream for a long prompt). */
export function checkTexts(
  body: {
    readonly model: z.output<typeof musicModel>;
    readonly prompt?: string | undefined;
    readonly style?: string | undefined;
    readonly title?: string | undefined;
  },
  customMode: boolean,
): void {
  const limits = textLimits(body.model);
  const longest = { ...limits, prompt: customMode ? limits.prompt : simplePromptLimit };
  for (const field of ['prompt', 'style', 'title'] as const) {
    const length = body[field]?.length ?? 0;
    if (length > longest[field]) {
      throw new Refusal(
        'too large',
        `${field}: ${length} characters; ${body.model} takes at most ${longest[field]}`,
      );
    }
  }
}

/** The two takes that a song task makes. */
export function takes(recipe: SongRecipe): SongRecipe[] {
  return [recipe, { ...recipe, take: recipe.take + 1 }];
}

/** The seed of a persona's voice. Refuses unknown personas. */
export function voiceOf(context: EmulatorContext, personaId: string): string {
  const persona = context.store.personas.get(personaId);
  if (persona === undefined) throw new Refusal('not found', `personaId: no persona ${personaId}`);
  return persona.voice;
}

/** Lyrics as they are sung: a text that is only section tags is hummed. */
function sungText(lyrics: string): string {
  return lyrics.replace(/\[[^\]]*\]/g, '').trim() === '' ? `${lyrics}\nla la la la` : lyrics;
}
