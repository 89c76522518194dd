import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { download } from '../download.ts';
import type { SongRecipe, UploadSource } from '../studio/synthesizer/recipe.ts';
import { writeLyrics } from '../writing/lyrics.ts';
import { songFields, tuning, webUrl } from './fields.ts';
import { checkTexts, generateBody, personaVoice, requireMembers, songRecipe, takes } from './generate.ts';
import { acceptSongs } from './songs.ts';

const text = z.string().trim().min(1);
const coverBody = generateBody.extend({ uploadUrl: webUrl });
const extendBody = z.strictObject({
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
  ...tuning,
} as const;
const addVocalsBody = z.strictObject({ ...accompanimentFields, prompt: text, style: text });
const addInstrumentalBody = z.strictObject({ ...accompanimentFields, tags: text });
const mostUploadBytes = 30 * 1024 * 1024;

/** The routes that work on a file: `upload-cover`, `upload-extend`, `add-vocals`, `add-instrumental`. */
export function registerUploadRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const accept = (
    request: FastifyRequest,
    use: UploadSource['use'],
    body: { uploadUrl: string; callBackUrl: string; model: string; continueAt?: number | undefined },
    recipes: readonly SongRecipe[],
  ): Promise<Record<string, unknown>> =>
    acceptSongs(context, request, body, recipes, async (task) => {
      const audio = await download(context, body.uploadUrl, mostUploadBytes);
      const source: UploadSource = { kind: 'upload', use, audio, continueAt: body.continueAt ?? null };
      context.store.noteUpload(task, audio.length);
      for (const song of task.audios) song.recipe = { ...song.recipe, source };
    });

  server.post('/music/upload-cover', async (request) => {
    const body = readBody(coverBody, request);
    // The contract's upload-cover has no prompt: without one the words come from the title, or from the style.
    const prompt = body.prompt ?? '';
    const about =
      [body.title ?? '', body.style ?? '', 'an old song'].find((text) => text.trim() !== '') ?? '';
    const words = body.customMode ? writeLyrics(about, 0, 'short').text : about;
    const recipe = songRecipe(context, { ...body, prompt: prompt.trim() === '' ? words : prompt });
    return accept(request, 'cover', body, takes(recipe));
  });

  server.post('/music/upload-extend', async (request) => {
    const body = readBody(extendBody, request);
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
