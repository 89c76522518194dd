/** From what people say to a request of the song routes, told before anything is spent when it does not fit. */

import { UserError } from '../../src/core/errors.ts';
import { SONG_LIMITS } from '../../src/core/music/song-limits.ts';
import type { Voice } from '../../src/core/music/voice.ts';
import { present } from '../../src/core/util/present.ts';
import type { SongModel, Work } from '../../src/core/work.ts';
import { choicesOf } from '../text/options.ts';
import { clip, words } from '../text/phrases.ts';
import { firstLine, withSectionTags } from './lyrics-text.ts';

const SONG_MODELS = ['V5', 'V4_5ALL', 'V4_5PLUS', 'V4_5', 'V4'] as const satisfies readonly SongModel[];

export const SONG_MODEL_CHOICES = choicesOf(SONG_MODELS);

/** Refuses a voice for what has none. */
export const UNHEARD_VOICE = 'An instrumental cannot have a voice. Leave out “voice” or “instrumental”.';

export interface SongRequest {
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
  wanted: SongRequest,
  { model, voice }: { readonly model: SongModel; readonly voice?: Voice | undefined },
): Extract<Work, { route: 'music.generate' }> {
  const { prompt, title, style } = wanted;
  const lyrics = wanted.lyrics === undefined ? undefined : withSectionTags(wanted.lyrics);
  const instrumental = wanted.instrumental ?? false;
  const bounds = SONG_LIMITS.models[model];
  if (instrumental && lyrics !== undefined) {
    throw new UserError(
      'An instrumental cannot have lyrics. Leave out “lyrics” or “instrumental”.',
      'instrumental',
    );
  }
  if (instrumental && voice !== undefined) throw new UserError(UNHEARD_VOICE, 'instrumental');
  const about = prompt ?? title ?? firstLine(lyrics) ?? style;
  if (about === undefined) {
    throw new UserError('Describe the song, for example: /song a tune for a rainy evening', 'prompt');
  }
  const custom = title !== undefined || style !== undefined || lyrics !== undefined || voice !== undefined;
  if (!custom) {
    within(about, bounds.simplePrompt, 'description', 'prompt', 'Put the words to sing into “lyrics”.');
    const request = { customMode: false as const, instrumental, model, prompt: about };
    return { route: 'music.generate', request };
  }
  if (lyrics !== undefined) within(lyrics, bounds.customPrompt, 'lyrics', 'lyrics');
  if (style !== undefined) within(style, bounds.style, 'style', 'style');
  if (title !== undefined) within(title, bounds.title, 'title', 'title');
  const writesLyrics = !instrumental && lyrics === undefined;
  return present({
    route: 'music.generate' as const,
    request: present({
      customMode: true as const,
      instrumental,
      model,
      title: title ?? clip(about, bounds.title),
      style: style ?? clip(about, bounds.style),
      prompt: lyrics,
      personaId: voice?.personaId,
    }),
    roughStyle: style === undefined ? clip(about, bounds.style) : undefined,
    lyricsAbout: writesLyrics ? words(about, SONG_LIMITS.lyricsPromptWords) : undefined,
    voiceName: voice?.name,
  });
}

/** Throws UserError when a text is longer than its model takes. */
export function within(text: string, most: number, what: string, option: string, wayOut = ''): void {
  if (text.length <= most) return;
  const verb = what === 'lyrics' ? 'are' : 'is';
  const sentence = `The ${what} ${verb} too long: ${text.length} characters, the limit is ${most}. ${wayOut}`;
  throw new UserError(sentence.trim(), option);
}
