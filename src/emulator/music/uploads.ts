import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { DownloadError, download } from '../download.ts';
import { writeLyrics } from '../lyrics.ts';
import { Refusal } from '../refusal.ts';
import type { MusicModel } from '../store.ts';
import type { SongRecipe, SongSource } from '../synth/recipe.ts';
import { httpUrl, musicModel, songTexts, tuning } from './fields.ts';
import { checkTexts, generateBody, songRecipe, takes, voiceOf } from './generate.ts';
import { addAudios, songStages } from './songs.ts';
import { acceptTask, createTask, type Stage, TaskFailure } from './task.ts';

const text = z.string().trim().min(1);
const coverBody = generateBody.extend({ uploadUrl: httpUrl });
const extendBody = z.strictObject({
  uploadUrl: httpUrl,
  defaultParamFlag: z.boolean(),
  model: musicModel,
  callBackUrl: httpUrl,
  instrumental: z.boolean().optional(),
  continueAt: z.number().positive().optional(),
  ...songTexts,
});
const lateModel = z.enum(['V4_5PLUS', 'V5'], { error: 'must be V4_5PLUS or V5' }).default('V4_5PLUS');
const { negativeTags: _, ...weights } = tuning;
const addVocalsBody = z.strictObject({
  uploadUrl: httpUrl,
  prompt: text,
  title: text,
  style: text,
  negativeTags: z.string().max(1000),
  callBackUrl: httpUrl,
  model: lateModel,
  ...weights,
});
const addInstrumentalBody = z.strictObject({
  uploadUrl: httpUrl,
  title: text,
  tags: text,
  negativeTags: z.string().max(1000),
  callBackUrl: httpUrl,
  model: lateModel,
  ...weights,
});
const mostUploadBytes = 30 * 1024 * 1024;

/** The routes that work on a file: `upload-cover`, `upload-extend`, `add-vocals`, `add-instrumental`. */
export function registerUploadRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const accept = (
    request: FastifyRequest,
    use: Extract<SongSource, { kind: 'upload' }>['use'],
    body: { uploadUrl: string; callBackUrl: string; model: MusicModel; continueAt?: number | undefined },
    recipes: readonly SongRecipe[],
  ): Promise<Record<string, unknown>> => {
    const task = createTask(context, 'songs');
    const placeholders = addAudios(context, task, body.model, recipes);
    const [textStage, ...soundStages] = songStages(context, task);
    const fetchUpload = async (): Promise<void> => {
      const upload = await downloadUpload(context, body.uploadUrl);
      const source: SongSource = { kind: 'upload', use, ...upload, continueAt: body.continueAt ?? null };
      context.store.noteUpload(task, upload.audio.length);
      placeholders.forEach((audio, index) => {
        task.audios[index] = context.store.audios.add({ ...audio, recipe: { ...audio.recipe, source } });
      });
    };
    // The file is fetched before the first stage, so that nothing is promised of a file that is not there.
    const stages: Stage[] = [
      {
        atSeconds: textStage?.atSeconds ?? 0,
        make: async () => {
          await fetchUpload();
          return textStage === undefined ? { kind: 'songs', stage: 'text', items: [] } : textStage.make();
        },
      },
      ...soundStages,
    ];
    return acceptTask(context, request, task, body.callBackUrl, stages);
  };

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
      if (body.instrumental === undefined)
        throw new Refusal('invalid', 'instrumental: required with defaultParamFlag');
      if (style === '') throw new Refusal('invalid', 'style: required when defaultParamFlag is true');
      if (title === '') throw new Refusal('invalid', 'title: required when defaultParamFlag is true');
      if (body.continueAt === undefined)
        throw new Refusal('invalid', 'continueAt: required with defaultParamFlag');
      if (!instrumental && prompt === '')
        throw new Refusal('invalid', 'prompt: required when not instrumental');
    }
    checkTexts(body, true);
    const recipe: SongRecipe = {
      title: title === '' ? 'Extended' : title,
      style,
      prompt,
      lyrics: instrumental || prompt === '' ? null : override ? prompt : writeLyrics(prompt, 0, 'short').text,
      voice: body.personaId === undefined ? null : voiceOf(context, body.personaId),
      seconds: context.songSeconds,
      take: 0,
      source: null,
    };
    return accept(request, 'extend', body, [recipe]);
  });

  server.post('/music/add-vocals', async (request) => {
    const body = readBody(addVocalsBody, request);
    checkTexts(body, true);
    return accept(request, 'vocals', body, [
      songRecipe(context, { ...body, customMode: true, instrumental: false }),
    ]);
  });

  server.post('/music/add-instrumental', async (request) => {
    const { tags: style, ...body } = readBody(addInstrumentalBody, request);
    checkTexts({ ...body, style }, true);
    return accept(request, 'instrumental', body, [
      songRecipe(context, { ...body, style, customMode: true, instrumental: true }),
    ]);
  });
}

async function downloadUpload(
  context: EmulatorContext,
  url: string,
): Promise<{ audio: Uint8Array; digest: string }> {
  try {
    const { bytes, digest } = await download(context, url, mostUploadBytes);
    return { audio: bytes, digest };
  } catch (error) {
    if (error instanceof DownloadError)
      throw new TaskFailure(451, `The file could not be downloaded: ${error.message}.`);
    throw error;
  }
}
