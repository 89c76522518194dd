import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { RefusedRequest } from '../requests/refusal.ts';
import type { SongRecipe } from '../studio/synthesizer/recipe.ts';
import { writeLyrics } from '../writing/lyrics.ts';
import { titleFrom } from '../writing/words.ts';
import { type SongFields, shortId, songFields } from './fields.ts';
import { acceptSongs } from './songs.ts';

/** Upload-cover takes the same fields, with the same meanings. */
export const generateBody = z.strictObject({
  customMode: z.boolean(),
  instrumental: z.boolean(),
  ...songFields,
});
const extendBody = z.strictObject({
  audioId: shortId,
  defaultParamFlag: z.boolean(),
  continueAt: z.number().positive().optional(),
  ...songFields,
});
/** Longest prompt in simple mode, in characters. */
const simplePromptLimit = 500;

/** `POST /music/generate` and `POST /music/extend`. */
export function registerGenerateRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate', async (request) => {
    const body = readBody(generateBody, request);
    return acceptSongs(context, request, body, takes(songRecipe(context, body)));
  });

  server.post('/music/extend', async (request) => {
    const body = readBody(extendBody, request);
    const source = context.store.audios.get(body.audioId);
    if (source === undefined) throw new RefusedRequest('not found', `audioId: no audio ${body.audioId}`);
    if (source.seconds === null)
      throw new RefusedRequest('invalid', `audioId: audio ${body.audioId} is not complete yet`);
    if (source.model !== body.model)
      throw new RefusedRequest('invalid', `model: must be the source audio's, ${source.model}`);
    const { defaultParamFlag: override, prompt = '', style = '', title = '', continueAt } = body;
    if (override) {
      requireMembers(body, ['prompt', 'style', 'title', 'continueAt'], 'defaultParamFlag is true');
      if (continueAt !== undefined && continueAt >= source.seconds)
        throw new RefusedRequest('invalid', `continueAt: must be below the song's ${source.seconds} s`);
      checkTexts(body, true);
    }
    const { recipe } = source;
    const extension: SongRecipe = {
      ...recipe,
      ...(override ? { title, style, prompt, lyrics: recipe.lyrics === null ? null : sungText(prompt) } : {}),
      take: recipe.take + 2,
      voice: personaVoice(context, body) ?? recipe.voice,
      source: { kind: 'song', recipe, continueAt: (override ? continueAt : null) ?? source.seconds },
    };
    return acceptSongs(context, request, body, [extension]);
  });
}

/** Refuses a body in which one of the members is missing or blank; `when` says what requires them. */
export function requireMembers<Body>(
  body: Body,
  members: readonly (keyof Body & string)[],
  when: string,
): void {
  for (const member of members) {
    const value = body[member] ?? '';
    if (typeof value === 'string' && value.trim() === '')
      throw new RefusedRequest('invalid', `${member}: required when ${when}`);
  }
}

type SongTexts = Pick<SongFields, 'model' | 'prompt' | 'style' | 'title' | 'personaId'>;

/** Checks what the contract asks of a song in either mode, and turns it into a recipe. */
export function songRecipe(
  context: EmulatorContext,
  body: SongTexts & { readonly customMode: boolean; readonly instrumental: boolean },
): SongRecipe {
  const { customMode, instrumental, prompt = '', style = '', title = '' } = body;
  if (customMode) {
    requireMembers(body, ['style', 'title'], 'customMode is true');
    if (!instrumental)
      requireMembers(body, ['prompt'], 'customMode is true and instrumental is false (the lyrics)');
  } else requireMembers(body, ['prompt'], 'customMode is false');
  checkTexts(body, customMode);
  const lyrics = customMode ? sungText(prompt) : writeLyrics(prompt, 0, 'short').text;
  return {
    title: customMode ? title : titleFrom(prompt),
    style: customMode ? style : '',
    prompt,
    lyrics: instrumental ? null : lyrics,
    voice: personaVoice(context, body),
    seconds: context.songSeconds,
    take: 0,
    source: null,
  };
}

/** Refuses texts longer than the model takes, with the bounds of the public API (413, as upstream for a long prompt). */
export function checkTexts(body: SongTexts, customMode: boolean): void {
  const { model } = body;
  const isFirst = model === 'V4';
  const longest = {
    prompt: customMode ? (isFirst ? 3000 : 5000) : simplePromptLimit,
    style: isFirst ? 200 : 1000,
    title: isFirst || model === 'V4_5ALL' ? 80 : 100,
  } as const;
  for (const field of ['prompt', 'style', 'title'] as const) {
    const length = body[field]?.length ?? 0;
    if (length <= longest[field]) continue;
    const message = `${field}: ${length} characters; ${model} takes at most ${longest[field]}`;
    throw new RefusedRequest('too large', message);
  }
}

/** The two takes that a song task makes. */
export function takes(recipe: SongRecipe): SongRecipe[] {
  return [recipe, { ...recipe, take: 1 }];
}

/** The seed of a persona's voice; null where none is asked for. Refuses unknown personas. */
export function personaVoice(context: EmulatorContext, { personaId }: Pick<SongFields, 'personaId'>) {
  if (personaId === undefined) return null;
  const persona = context.store.personas.get(personaId);
  if (persona === undefined) throw new RefusedRequest('not found', `personaId: no persona ${personaId}`);
  return persona.voice;
}

/** Lyrics as they are sung: a text that is only section tags is hummed. */
function sungText(lyrics: string): string {
  return lyrics.replace(/\[[^[\]]*\]/g, '').trim() === '' ? `${lyrics}\nla la la la` : lyrics;
}
