/** From what people say to a request of the song routes, told before anything is spent when it does not fit. */
import type { Choice, Context, Voice } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import type { MusicModel } from '../../src/gateway/music.ts';
import type { Work } from '../../src/work.ts';
import { clip, words } from '../text.ts';
import { firstLine, withSectionTags } from './sections.ts';

const SONG_MODELS = ['V5', 'V4_5ALL', 'V4_5PLUS', 'V4_5', 'V4'] as const satisfies readonly MusicModel[];

export const SONG_MODEL_CHOICES: readonly Choice[] = SONG_MODELS.map((id) => ({ name: id, value: id }));

export interface SongWish {
  readonly prompt?: string | undefined;
  readonly title?: string | undefined;
  readonly style?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly instrumental?: boolean | undefined;
}

/**
 * Simple mode for a bare description; any of title, style, lyrics and voice means custom mode, whose missing title and
 * style are derived. Throws UserError.
 */
export function composeSong(
  wish: SongWish,
  {
    model,
    voice,
  }: { readonly model: MusicModel; readonly voice?: Pick<Voice, 'personaId' | 'name'> | undefined },
  { limits }: Pick<Context, 'limits'>,
): Extract<Work, { route: 'music.generate' }> {
  const { prompt, title, style } = wish;
  const lyrics = wish.lyrics === undefined ? undefined : withSectionTags(wish.lyrics);
  const instrumental = wish.instrumental ?? false;
  const bounds = limits.music.models[model];
  if (instrumental && lyrics !== undefined) {
    throw new UserError('An instrumental has no lyrics. Leave out one of the two.', 'instrumental');
  }
  const about = prompt ?? title ?? firstLine(lyrics) ?? style;
  if (about === undefined) {
    throw new UserError('Tell me what the song is about, as in: /song a tune for a rainy evening', 'prompt');
  }
  const custom = title !== undefined || style !== undefined || lyrics !== undefined || voice !== undefined;
  if (!custom) {
    within(about, bounds.simplePrompt, 'description', 'prompt', 'Words to sing go into “lyrics”.');
    return { route: 'music.generate', request: { customMode: false, instrumental, model, prompt: about } };
  }
  if (lyrics !== undefined) within(lyrics, bounds.customPrompt, 'lyrics', 'lyrics');
  if (style !== undefined) within(style, bounds.style, 'style', 'style');
  if (title !== undefined) within(title, bounds.title, 'title', 'title');
  const writesLyrics = !instrumental && lyrics === undefined;
  return {
    route: 'music.generate',
    request: {
      customMode: true,
      instrumental,
      model,
      title: title ?? clip(about, bounds.title),
      style: style ?? clip(about, bounds.style),
      ...(lyrics === undefined ? {} : { prompt: lyrics }),
      ...(voice === undefined ? {} : { personaId: voice.personaId }),
    },
    ...(style === undefined ? { roughStyle: clip(about, bounds.style) } : {}),
    ...(writesLyrics ? { lyricsAbout: words(about, limits.music.lyricsPromptWords) } : {}),
    ...(voice === undefined ? {} : { voiceName: voice.name }),
  };
}

/** Throws UserError when a text is longer than its model takes. */
export function within(text: string, most: number, what: string, option: string, wayOut = ''): void {
  if (text.length <= most) return;
  const sentence = `This ${what} has ${text.length} characters, and the model takes ${most}. Please shorten it. ${wayOut}`;
  throw new UserError(sentence.trim(), option);
}

/** Throws UserError for an id that is no song model. */
export function songModel(id: string): MusicModel {
  const model = SONG_MODELS.find((known) => known === id);
  if (model) return model;
  throw new UserError(
    `There is no song model “${id}”. The song models are ${SONG_MODELS.join(', ')}.`,
    'model',
  );
}
