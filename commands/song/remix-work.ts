/** Turns a recording and options into a request of the upload routes. */
import { UserError } from '../../src/core/errors.ts';
import { SONG_LIMITS, songModelLimits } from '../../src/core/music/song-limits.ts';
import type { Voice } from '../../src/core/music/voice.ts';
import { present } from '../../src/core/util/present.ts';
import { beginning } from '../../src/core/util/words.ts';
import type { Recording, SongModel, Work } from '../../src/core/work.ts';
import { choicesOf } from '../text/options.ts';
import { clip, words } from '../text/phrases.ts';
import { assertLength, INSTRUMENTAL_WITH_VOICE, type SongRequest } from './compose.ts';
import { withSectionTags } from './lyrics-text.ts';

export const REMIX_MODES = choicesOf(['cover', 'extend', 'vocals', 'instrumental']);
export type RemixMode = (typeof REMIX_MODES)[number]['value'];

export interface RemixRequest extends Omit<SongRequest, 'lyrics'> {
  readonly mode: RemixMode;
}

export interface RemixSource {
  readonly file: Recording;
  /** The result's title is derived from it. */
  readonly name: string;
  /** The words that are sung in it, if known. */
  readonly lyrics?: string | undefined;
}

interface Remix extends RemixRequest, RemixSource {
  readonly model: SongModel;
  /** Whether the person chose the model. A default that does not fit the mode is dropped. */
  readonly modelNamed: boolean;
  readonly voice?: Voice | undefined;
  /** True if the recording is known to have no vocals. */
  readonly fromInstrumental?: boolean | undefined;
}

const SUFFIXES = {
  cover: ' (cover)',
  extend: ' (extended)',
  vocals: ' (with vocals)',
  instrumental: ' (with a band)',
} as const satisfies Record<RemixMode, string>;

/** Default title of the result: a cover of “Rain” is “Rain (cover)”. */
function derivedTitle({ mode, name }: Pick<Remix, 'mode' | 'name'>, most: number): string {
  const suffix = SUFFIXES[mode];
  return name.endsWith(suffix) ? clip(name, most) : `${clip(name, most - suffix.length)}${suffix}`;
}

/** Throws UserError for options that the mode does not accept, before anything is spent. */
export function remixWork(remix: Remix): Work {
  const { mode, style, title } = remix;
  const limits = songModelLimits(remix.model);
  if (remix.voice && mode !== 'cover') {
    throw new UserError('A saved voice works only for covers. Leave out “voice”, or make a cover.', 'voice');
  }
  if (style !== undefined) assertLength(style, limits.style, 'style', 'style');
  if (title !== undefined) assertLength(title, limits.title, 'title', 'title');
  switch (mode) {
    case 'cover':
      return coverWork(remix);
    case 'extend':
      return extendWork(remix);
    case 'vocals':
      return vocalsWork(remix);
    case 'instrumental':
      return instrumentalWork(remix);
    default:
      return mode satisfies never;
  }
}

function coverWork(remix: Remix): Work {
  const { file: audio, name, model, prompt, title, style, instrumental = false, voice } = remix;
  if (instrumental && voice !== undefined) throw new UserError(INSTRUMENTAL_WITH_VOICE, 'instrumental');
  const limits = songModelLimits(model);
  if (title === undefined && style === undefined && voice === undefined) {
    if (prompt === undefined)
      throw new UserError('In “style” or “prompt”, describe how the cover should sound.', 'style');
    assertLength(prompt, limits.simplePrompt, 'description', 'prompt');
    const request = { customMode: false as const, instrumental, model, prompt };
    return { route: 'music.uploadCover', audio, request };
  }
  const lyrics = prompt === undefined || instrumental ? undefined : withSectionTags(prompt);
  if (lyrics !== undefined) assertLength(lyrics, limits.customPrompt, 'text', 'prompt');
  const about = style ?? title ?? name;
  const writesLyrics = !instrumental && lyrics === undefined;
  return present({
    route: 'music.uploadCover' as const,
    audio,
    request: present({
      customMode: true as const,
      instrumental,
      model,
      title: title ?? derivedTitle(remix, limits.title),
      style: style ?? clip(about, limits.style),
      prompt: lyrics,
      personaId: voice?.personaId,
    }),
    lyricsAbout: writesLyrics ? words(title ?? name, SONG_LIMITS.lyricsPromptWords) : undefined,
    voiceName: voice?.name,
  });
}

function extendWork(remix: Remix): Work {
  const { file: audio, name, model, prompt, title, style, instrumental = false } = remix;
  const limits = songModelLimits(model);
  if (title === undefined && style === undefined && !instrumental) {
    const lyrics = prompt === undefined ? undefined : withSectionTags(prompt);
    if (lyrics !== undefined) assertLength(lyrics, limits.customPrompt, 'text', 'prompt');
    const isInstrumental = remix.fromInstrumental === true && prompt === undefined;
    // The public API requires the lyrics even where everything else comes from the recording.
    const sung = lyrics ?? (remix.lyrics && beginning(remix.lyrics, limits.customPrompt));
    return {
      route: 'music.uploadExtend',
      audio,
      request: present({ model, defaultParamFlag: false as const, prompt: sung }),
      ...(isInstrumental ? { instrumental: true } : {}),
    };
  }
  if (!instrumental && prompt === undefined) {
    throw new UserError('Enter the lyrics for the new part in “prompt”, or choose “instrumental”.', 'prompt');
  }
  const lyrics = prompt === undefined ? undefined : withSectionTags(prompt);
  if (lyrics !== undefined) assertLength(lyrics, limits.customPrompt, 'text', 'prompt');
  return {
    route: 'music.uploadExtend',
    audio,
    request: present({
      model,
      defaultParamFlag: true as const,
      instrumental,
      style: style ?? clip(title ?? name, limits.style),
      title: title ?? derivedTitle(remix, limits.title),
      prompt: lyrics,
    }),
  };
}

function vocalsWork(remix: Remix): Work {
  const { file: audio, name, model, prompt, title, style, instrumental } = remix;
  if (instrumental)
    throw new UserError('Mode “vocals” adds vocals, so leave out “instrumental”.', 'instrumental');
  if (prompt === undefined) throw new UserError('Enter the lyrics in “prompt”.', 'prompt');
  const limits = songModelLimits(model);
  const lyrics = withSectionTags(prompt);
  assertLength(lyrics, limits.customPrompt, 'text', 'prompt');
  return {
    route: 'music.addVocals',
    audio,
    request: {
      prompt: lyrics,
      title: title ?? derivedTitle(remix, limits.title),
      style: style ?? clip(name, limits.style),
      negativeTags: '',
      ...addModel(remix),
    },
  };
}

function instrumentalWork(remix: Remix): Work {
  const { file: audio, model, prompt, title, style } = remix;
  const tags = style ?? prompt;
  if (tags === undefined) throw new UserError('In “style”, describe how the band should sound.', 'style');
  const limits = songModelLimits(model);
  assertLength(tags, limits.style, 'style', style === undefined ? 'prompt' : 'style');
  return {
    route: 'music.addInstrumental',
    audio,
    request: {
      title: title ?? derivedTitle(remix, limits.title),
      tags,
      negativeTags: '',
      ...addModel(remix),
    },
  };
}

/** Models that add-vocals and add-instrumental refuse (docs.sunoapi.org/suno-api/add-vocals). */
const MODELS_WITHOUT_ADD: readonly SongModel[] = ['V4', 'V4_5', 'V4_5ALL'];

function addModel({ model, modelNamed }: Remix): { model?: SongModel } {
  if (!MODELS_WITHOUT_ADD.includes(model)) return { model };
  if (!modelNamed) return {};
  throw new UserError('This mode needs the model V4_5PLUS, V5 or a newer one.', 'model');
}
