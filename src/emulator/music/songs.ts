import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { download } from '../files.ts';
import { RefusedRequest } from '../requests.ts';
import type { SongRecipe, UploadSource } from '../studio/synthesizer/recipe.ts';
import { titleFrom, writeLyrics } from '../writing.ts';
import { acceptSongs } from './tasks.ts';

/** Fields of several music routes, with the public API's limits (the contract has none). */
const musicModel = z.enum(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5'], {
  error: 'must be one of V4, V4_5, V4_5PLUS, V4_5ALL, V5 (V4 or later)',
});
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).max(2048);
export const shortId = z.string().min(1).max(100);

const songFields = {
  model: musicModel,
  callBackUrl: webUrl,
  prompt: z.string().optional(),
  style: z.string().optional(),
  title: z.string().optional(),
  personaId: shortId.optional(),
} as const;
type SongFields = z.output<z.ZodObject<typeof songFields>>;

/** Upload-cover takes the same fields, with the same meanings. */
const generateBody = z.strictObject({
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
      throw new RefusedRequest('invalid', `model: must be the source song's model, ${source.model}`);
    const { defaultParamFlag: override, prompt = '', style = '', title = '', continueAt } = body;
    if (override) {
      requireMembers(body, ['prompt', 'style', 'title', 'continueAt'], 'defaultParamFlag is true');
      if (continueAt !== undefined && continueAt >= source.seconds)
        throw new RefusedRequest(
          'invalid',
          `continueAt: must be less than the song's length of ${source.seconds} s`,
        );
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

/** Throws RefusedRequest if a member is missing or blank. `when` is the condition that requires them. */
function requireMembers<Body>(body: Body, members: readonly (keyof Body & string)[], when: string): void {
  for (const member of members) {
    const value = body[member] ?? '';
    if (typeof value === 'string' && value.trim() === '')
      throw new RefusedRequest('invalid', `${member}: required when ${when}`);
  }
}

type SongTexts = Pick<SongFields, 'model' | 'prompt' | 'style' | 'title' | 'personaId'>;

/** Validates a song request in either mode and converts it to a recipe. */
function songRecipe(
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

/** Throws RefusedRequest for texts above the limits of the public API (413, as upstream for a long prompt). */
function checkTexts(body: SongTexts, customMode: boolean): void {
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
    const message = `${field}: ${length} characters, the limit of ${model} is ${longest[field]}`;
    throw new RefusedRequest('too large', message);
  }
}

/** Returns the two takes of a song task. */
function takes(recipe: SongRecipe): SongRecipe[] {
  return [recipe, { ...recipe, take: 1 }];
}

/** Returns the seed of a persona's voice, or null without a persona. Throws RefusedRequest for unknown personas. */
function personaVoice(context: EmulatorContext, { personaId }: Pick<SongFields, 'personaId'>) {
  if (personaId === undefined) return null;
  const persona = context.store.personas.get(personaId);
  if (persona === undefined) throw new RefusedRequest('not found', `personaId: no persona ${personaId}`);
  return persona.voice;
}

/** Returns the lyrics to sing. Lyrics with only section tags are hummed. */
function sungText(lyrics: string): string {
  return lyrics.replace(/\[[^[\]]*\]/g, '').trim() === '' ? `${lyrics}\nla la la la` : lyrics;
}

const text = z.string().trim().min(1);
const coverBody = generateBody.extend({ uploadUrl: webUrl });
const uploadExtendBody = z.strictObject({
  uploadUrl: webUrl,
  defaultParamFlag: z.boolean(),
  instrumental: z.boolean().optional(),
  continueAt: z.number().positive().optional(),
  ...songFields,
});
const lateModel = z.enum(['V4_5PLUS', 'V5'], { error: 'must be V4_5PLUS or V5' }).default('V4_5PLUS');
const accompanimentFields = {
  uploadUrl: webUrl,
  title: text,
  negativeTags: z.string().max(1000),
  callBackUrl: webUrl,
  model: lateModel,
} as const;
const addVocalsBody = z.strictObject({ ...accompanimentFields, prompt: text, style: text });
const addInstrumentalBody = z.strictObject({ ...accompanimentFields, tags: text });
const maxUploadBytes = 30 * 1024 * 1024;

/** The routes for uploaded files: `upload-cover`, `upload-extend`, `add-vocals`, `add-instrumental`. */
export function registerUploadRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const accept = (
    request: FastifyRequest,
    use: UploadSource['use'],
    body: { uploadUrl: string; callBackUrl: string; model: string; continueAt?: number | undefined },
    recipes: readonly SongRecipe[],
  ): Promise<Record<string, unknown>> =>
    acceptSongs(context, request, body, recipes, async (task) => {
      const audio = await download(context, body.uploadUrl, maxUploadBytes);
      const source: UploadSource = { kind: 'upload', use, audio, continueAt: body.continueAt ?? null };
      context.store.recordUpload(task);
      for (const song of task.audios) song.recipe = { ...song.recipe, source };
    });

  server.post('/music/upload-cover', async (request) => {
    const body = readBody(coverBody, request);
    // The contract's upload-cover has no prompt. Without one, the lyrics come from the title or the style.
    const prompt = body.prompt ?? '';
    const topic =
      [body.title ?? '', body.style ?? '', 'an old song'].find((text) => text.trim() !== '') ?? '';
    const words = body.customMode ? writeLyrics(topic, 0, 'short').text : topic;
    const recipe = songRecipe(context, { ...body, prompt: prompt.trim() === '' ? words : prompt });
    return accept(request, 'cover', body, takes(recipe));
  });

  server.post('/music/upload-extend', async (request) => {
    const body = readBody(uploadExtendBody, request);
    const { defaultParamFlag: override, instrumental = false, prompt = '', style = '', title = '' } = body;
    if (override) {
      requireMembers(body, ['instrumental', 'style', 'title', 'continueAt'], 'defaultParamFlag is true');
      if (!instrumental) requireMembers(body, ['prompt'], 'instrumental is false');
    }
    checkTexts(body, true);
    const recipe: SongRecipe = {
      title: title === '' ? 'Extended' : title,
      style,
      prompt,
      lyrics: instrumental || prompt === '' ? null : override ? prompt : writeLyrics(prompt, 0, 'short').text,
      voice: personaVoice(context, body),
      seconds: context.songSeconds,
      take: 0,
      source: null,
    };
    return accept(request, 'extend', body, [recipe]);
  });

  server.post('/music/add-vocals', async (request) => {
    const body = readBody(addVocalsBody, request);
    const recipe = songRecipe(context, { ...body, customMode: true, instrumental: false });
    return accept(request, 'vocals', body, [recipe]);
  });

  server.post('/music/add-instrumental', async (request) => {
    const { tags: style, ...body } = readBody(addInstrumentalBody, request);
    const recipe = songRecipe(context, { ...body, style, customMode: true, instrumental: true });
    return accept(request, 'instrumental', body, [recipe]);
  });
}
