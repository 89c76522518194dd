/** From a recording and what people want of it to a request of the upload routes. */
import type { Context, Voice } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import type { MusicModel } from '../../src/gateway/music.ts';
import type { KeptFile } from '../../src/message.ts';
import type { Work } from '../../src/work.ts';
import { clip, words } from '../text.ts';
import { within } from './compose.ts';
import { withSectionTags } from './sections.ts';

export const REMIX_MODES = [
  { name: 'cover', value: 'cover' },
  { name: 'extend', value: 'extend' },
  { name: 'vocals', value: 'vocals' },
  { name: 'instrumental', value: 'instrumental' },
] as const;
export type RemixMode = (typeof REMIX_MODES)[number]['value'];

export interface RemixWish {
  readonly mode: RemixMode;
  readonly prompt?: string | undefined;
  readonly title?: string | undefined;
  readonly style?: string | undefined;
  readonly instrumental?: boolean | undefined;
}

/** A recording that may be handed over. */
export interface Recording {
  readonly file: KeptFile;
  readonly seconds: number;
  /** What the title is derived from. */
  readonly name: string;
}

export interface RemixTools {
  readonly model: MusicModel;
  /** Whether a person named the model; a default that does not fit the mode is left out. */
  readonly modelNamed: boolean;
  readonly voice?: Voice | undefined;
  readonly limits: Context['limits'];
}

/** Throws UserError for whatever the mode does not take, before anything is spent. */
export function remixWork(wish: RemixWish, recording: Recording, tools: RemixTools): Work {
  const { mode } = wish;
  const bounds = tools.limits.music.models[tools.model];
  if (tools.voice && mode !== 'cover') {
    throw new UserError('A kept voice can sing in mode “cover” only. Leave out one of the two.', 'voice');
  }
  if (wish.style !== undefined) within(wish.style, bounds.style, 'style', 'style');
  if (wish.title !== undefined) within(wish.title, bounds.title, 'title', 'title');
  switch (mode) {
    case 'cover':
      return coverWork(wish, recording, tools);
    case 'extend':
      return extendWork(wish, recording, tools);
    case 'vocals':
      return vocalsWork(wish, recording, tools);
    case 'instrumental':
      return instrumentalWork(wish, recording, tools);
    default:
      return mode satisfies never;
  }
}

function coverWork(
  { prompt, title, style, instrumental = false }: RemixWish,
  { file: audio, name }: Recording,
  { model, voice, limits }: RemixTools,
): Work {
  const bounds = limits.music.models[model];
  if (title === undefined && style === undefined && voice === undefined) {
    if (prompt === undefined)
      throw new UserError('Tell me how the cover should sound, in “style” or “prompt”.', 'style');
    within(prompt, bounds.simplePrompt, 'description', 'prompt');
    return { route: 'music.uploadCover', audio, request: { customMode: false, instrumental, model, prompt } };
  }
  const lyrics = prompt === undefined || instrumental ? undefined : withSectionTags(prompt);
  if (lyrics !== undefined) within(lyrics, bounds.customPrompt, 'text', 'prompt');
  const about = style ?? title ?? name;
  return {
    route: 'music.uploadCover',
    audio,
    request: {
      customMode: true,
      instrumental,
      model,
      title: title ?? clip(name, bounds.title),
      style: style ?? clip(about, bounds.style),
      ...(lyrics === undefined ? {} : { prompt: lyrics }),
      ...(voice === undefined ? {} : { personaId: voice.personaId }),
    },
    ...(instrumental || lyrics !== undefined
      ? {}
      : { lyricsAbout: words(title ?? name, limits.music.lyricsPromptWords) }),
    ...(voice === undefined ? {} : { voiceName: voice.name }),
  };
}

/** Seconds: `continueAt` lies before the end (docs.sunoapi.org/suno-api/upload-and-extend-audio). */
const BEFORE_THE_END = 0.1;

function extendWork(
  { prompt, title, style, instrumental = false }: RemixWish,
  { file: audio, seconds, name }: Recording,
  { model, limits }: RemixTools,
): Work {
  const bounds = limits.music.models[model];
  if (title === undefined && style === undefined && !instrumental) {
    if (prompt !== undefined) within(prompt, bounds.customPrompt, 'text', 'prompt');
    return {
      route: 'music.uploadExtend',
      audio,
      request: { model, defaultParamFlag: false, ...(prompt === undefined ? {} : { prompt }) },
    };
  }
  if (!instrumental && prompt === undefined) {
    throw new UserError('Tell me the words that follow in “prompt”, or choose “instrumental”.', 'prompt');
  }
  const lyrics = prompt === undefined ? undefined : withSectionTags(prompt);
  if (lyrics !== undefined) within(lyrics, bounds.customPrompt, 'text', 'prompt');
  return {
    route: 'music.uploadExtend',
    audio,
    request: {
      model,
      defaultParamFlag: true,
      instrumental,
      style: style ?? clip(title ?? name, bounds.style),
      title: title ?? clip(name, bounds.title),
      continueAt: Math.max(0.01, Math.floor((seconds - BEFORE_THE_END) * 100) / 100),
      ...(lyrics === undefined ? {} : { prompt: lyrics }),
    },
  };
}

function vocalsWork(
  { prompt, title, style, instrumental }: RemixWish,
  { file: audio, name }: Recording,
  tools: RemixTools,
): Work {
  if (instrumental)
    throw new UserError('Mode “vocals” adds a voice; leave out “instrumental”.', 'instrumental');
  if (prompt === undefined) throw new UserError('Tell me what is sung, in “prompt”.', 'prompt');
  const bounds = tools.limits.music.models[tools.model];
  const lyrics = withSectionTags(prompt);
  within(lyrics, bounds.customPrompt, 'text', 'prompt');
  return {
    route: 'music.addVocals',
    audio,
    request: {
      prompt: lyrics,
      title: title ?? clip(name, bounds.title),
      style: style ?? clip(name, bounds.style),
      negativeTags: '',
      ...lateModel(tools),
    },
  };
}

function instrumentalWork(
  { prompt, title, style }: RemixWish,
  { file: audio, name }: Recording,
  tools: RemixTools,
): Work {
  const tags = style ?? prompt;
  if (tags === undefined) throw new UserError('Tell me how the band should sound, in “style”.', 'style');
  const bounds = tools.limits.music.models[tools.model];
  within(tags, bounds.style, 'style', style === undefined ? 'prompt' : 'style');
  return {
    route: 'music.addInstrumental',
    audio,
    request: { title: title ?? clip(name, bounds.title), tags, negativeTags: '', ...lateModel(tools) },
  };
}

/** add-vocals and add-instrumental take two of the models (docs.sunoapi.org/suno-api/add-vocals). */
function lateModel({ model, modelNamed }: RemixTools): { model?: 'V4_5PLUS' | 'V5' } {
  if (model === 'V4_5PLUS' || model === 'V5') return { model };
  if (!modelNamed) return {};
  throw new UserError('This mode takes the models V5 and V4_5PLUS.', 'model');
}
