import { z } from 'zod';

/** The music model versions: contract, "Versioning" 1. */
export const MUSIC_MODELS: readonly string[] = ['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5'];
/** Newer versions, such as V5_5: https://docs.sunoapi.org/suno-api/generate-music. */
const NEWER_MODEL = /^V(?:5_?[A-Z\d]|[6-9]|[1-3]\d)\w{0,20}$/;

export function isMusicModel(name: string): boolean {
  return MUSIC_MODELS.includes(name) || NEWER_MODEL.test(name);
}

const httpUrl = z.url({ protocol: /^https?$/ });
const id = z.string().trim().min(1).max(512);
const text = z.string().trim().min(1);
const model = z.string().refine(isMusicModel, 'not a music model');
const callBackUrl = httpUrl;

/** Contract, "Fields of the generate request"; upload-cover takes them "with the same meanings". */
const songFields = z.object({
  customMode: z.boolean(),
  instrumental: z.boolean(),
  model,
  callBackUrl,
  prompt: text.optional(),
  style: text.optional(),
  title: text.optional(),
  personaId: id.optional(),
});

/** Contract, "Music", the first rule: custom mode requires `style` and `title`. */
const customNeeds = (field: 'style' | 'title') =>
  z.refine<z.infer<typeof songFields>>((request) => !request.customMode || request[field] !== undefined, {
    path: [field],
    message: `custom mode needs a ${field}`,
  });

/** `POST /music/generate`: contract, "Fields of the generate request". */
export const generateRequest = songFields
  .check(customNeeds('style'), customNeeds('title'))
  .refine((request) => request.customMode || request.prompt !== undefined, {
    path: ['prompt'],
    message: 'simple mode needs a prompt',
  });
export type GenerateRequest = z.infer<typeof generateRequest>;

/**
 * `POST /music/extend`: contract, "Music". The contract doesn't show the override fields for
 * `defaultParamFlag: true`; these are the ones that the public API requires:
 * https://docs.sunoapi.org/suno-api/extend-music. `continueAt` is in seconds.
 */
export const extendRequest = z.discriminatedUnion('defaultParamFlag', [
  z.object({ audioId: id, model, callBackUrl, defaultParamFlag: z.literal(false) }),
  z.object({
    audioId: id,
    model,
    callBackUrl,
    defaultParamFlag: z.literal(true),
    prompt: text,
    style: text,
    title: text,
    continueAt: z.number().positive(),
  }),
]);
export type ExtendRequest = z.infer<typeof extendRequest>;

/** `POST /music/generate-lyrics`: contract, "Music". */
export const generateLyricsRequest = z.object({ prompt: text, callBackUrl });
export type GenerateLyricsRequest = z.infer<typeof generateLyricsRequest>;

/** `POST /music/timestamped-lyrics`: contract, "Music"; the song must be complete. */
export const timestampedLyricsRequest = z.object({ taskId: id, audioId: id });
export type TimestampedLyricsRequest = z.infer<typeof timestampedLyricsRequest>;

/** `POST /music/style-generate`: contract, "Music"; `content` contains rough style tags. */
export const styleGenerateRequest = z.object({ content: text });

/** `POST /music/generate-cover`: contract, "Music"; the music task must be complete. */
export const generateCoverRequest = z.object({ taskId: id, callBackUrl });
export type GenerateCoverRequest = z.infer<typeof generateCoverRequest>;

/**
 * `POST /music/upload-cover`: contract, "Music". `prompt` is from the public API
 * (https://docs.sunoapi.org/suno-api/upload-and-cover-audio) and has the same meaning as in generate.
 */
export const uploadCoverRequest = songFields
  .extend({ uploadUrl: httpUrl })
  .check(customNeeds('style'), customNeeds('title'));
export type UploadCoverRequest = z.infer<typeof uploadCoverRequest>;

/**
 * `POST /music/upload-extend`: contract, "Music", which shows no body; these are the public API's required fields
 * (https://docs.sunoapi.org/suno-api/upload-and-extend-audio). `continueAt` is in seconds.
 */
export const uploadExtendRequest = z.discriminatedUnion('defaultParamFlag', [
  z.object({
    uploadUrl: httpUrl,
    model,
    callBackUrl,
    defaultParamFlag: z.literal(false),
    prompt: text.optional(),
  }),
  z
    .object({
      uploadUrl: httpUrl,
      model,
      callBackUrl,
      defaultParamFlag: z.literal(true),
      instrumental: z.boolean(),
      style: text,
      title: text,
      continueAt: z.number().positive(),
      prompt: text.optional(),
    })
    .refine((request) => request.instrumental || request.prompt !== undefined, {
      path: ['prompt'],
      message: 'a song with vocals needs a prompt',
    }),
]);
export type UploadExtendRequest = z.infer<typeof uploadExtendRequest>;

/** Models that the public API accepts for add-vocals and add-instrumental. If omitted, the gateway chooses. */
const addModel = model.refine((name) => !/^V4(?:_5(?:ALL)?)?$/.test(name), 'too old for this route');

/**
 * `POST /music/add-vocals`: contract, "Music", which shows no body; these are the public API's required fields
 * (https://docs.sunoapi.org/suno-api/add-vocals).
 */
export const addVocalsRequest = z.object({
  uploadUrl: httpUrl,
  prompt: text,
  title: text,
  style: text,
  negativeTags: z.string(),
  callBackUrl,
  model: addModel.optional(),
});
export type AddVocalsRequest = z.infer<typeof addVocalsRequest>;

/**
 * `POST /music/add-instrumental`: contract, "Music", which shows no body; these are the public API's required fields
 * (https://docs.sunoapi.org/suno-api/add-instrumental): `tags`, not `style`, and no prompt.
 */
export const addInstrumentalRequest = z.object({
  uploadUrl: httpUrl,
  title: text,
  tags: text,
  negativeTags: z.string(),
  callBackUrl,
  model: addModel.optional(),
});
export type AddInstrumentalRequest = z.infer<typeof addInstrumentalRequest>;

/** `POST /music/generate-persona`: contract, "Persona". `vocalStart` and `vocalEnd` in seconds, as in the public API. */
export const generatePersonaRequest = z
  .object({
    taskId: id,
    audioId: id,
    name: text,
    description: text,
    vocalStart: z.number().min(0).optional(),
    vocalEnd: z.number().min(0).optional(),
  })
  .refine(
    ({ vocalStart, vocalEnd }) => vocalStart === undefined || vocalEnd === undefined || vocalStart < vocalEnd,
    { path: ['vocalEnd'], message: 'the vocal segment must end after it starts' },
  );
export type GeneratePersonaRequest = z.infer<typeof generatePersonaRequest>;

/** `POST /music/vocal-removal`: contract, "Music". */
export const vocalRemovalRequest = z.object({
  taskId: id,
  audioId: id,
  type: z.enum(['separate_vocal', 'split_stem']),
  callBackUrl,
});
export type VocalRemovalRequest = z.infer<typeof vocalRemovalRequest>;

/**
 * `POST /music/wav-generate`: contract, "Music", which shows no body; fields of
 * https://docs.sunoapi.org/suno-api/convert-to-wav.
 */
export const wavGenerateRequest = z.object({ taskId: id, audioId: id, callBackUrl });
export type WavGenerateRequest = z.infer<typeof wavGenerateRequest>;

/**
 * `POST /music/mp4-generate`: contract, "Music", which shows no body; required fields of
 * https://docs.sunoapi.org/suno-api/create-music-video.
 */
export const mp4GenerateRequest = z.object({ taskId: id, audioId: id, callBackUrl });
export type Mp4GenerateRequest = z.infer<typeof mp4GenerateRequest>;
