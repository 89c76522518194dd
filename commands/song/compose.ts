/** Turns options into a request of the song routes. Invalid options are refused before anything is spent. */
import { UserError } from '../../src/core/errors.ts';
import { SONG_LIMITS, songModelLimits } from '../../src/core/music/song-limits.ts';
import type { Voice } from '../../src/core/music/voice.ts';
import { present } from '../../src/core/util/present.ts';
import { capitalised } from '../../src/core/util/words.ts';
import type { SongModel, Work } from '../../src/core/work.ts';
import { clip, words } from '../text/phrases.ts';
import { firstLine, withSectionTags } from './lyrics-text.ts';

export const INSTRUMENTAL_WITH_VOICE =
  "An instrumental can't have a voice. Leave out “voice” or “instrumental”.";

export interface SongRequest {
  readonly prompt?: string | undefined;
  readonly title?: string | undefined;
  readonly style?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly instrumental?: boolean | undefined;
}

/**
 * A description alone uses simple mode. A title, style, lyrics or voice selects custom mode, with missing title and style
 * derived. Throws UserError.
 */
export function composeSong(
  options: SongRequest,
  { model, voice }: { readonly model: SongModel; readonly voice?: Voice | undefined },
): Extract<Work, { route: 'music.generate' }> {
  const { prompt, title, style } = options;
  const lyrics = options.lyrics === undefined ? undefined : withSectionTags(options.lyrics);
  const instrumental = options.instrumental ?? false;
  const limits = songModelLimits(model);
  if (instrumental && lyrics !== undefined) {
    throw new UserError(
      "An instrumental can't have lyrics. Leave out “lyrics” or “instrumental”.",
      'instrumental',
    );
  }
  if (instrumental && voice !== undefined) throw new UserError(INSTRUMENTAL_WITH_VOICE, 'instrumental');
  const about = prompt ?? title ?? firstLine(lyrics) ?? style;
  if (about === undefined) {
    throw new UserError('Describe the song, for example: /song prompt:a tune for a rainy evening', 'prompt');
  }
  const isCustom = title !== undefined || style !== undefined || lyrics !== undefined || voice !== undefined;
  if (!isCustom) {
    assertLength(about, limits.simplePrompt, 'description', 'prompt', 'Enter the words to sing in “lyrics”.');
    const request = { customMode: false as const, instrumental, model, prompt: about };
    return { route: 'music.generate', request };
  }
  if (lyrics !== undefined) assertLength(lyrics, limits.customPrompt, 'lyrics', 'lyrics');
  if (style !== undefined) assertLength(style, limits.style, 'style', 'style');
  if (title !== undefined) assertLength(title, limits.title, 'title', 'title');
  const writesLyrics = !instrumental && lyrics === undefined;
  return present({
    route: 'music.generate' as const,
    request: present({
      customMode: true as const,
      instrumental,
      model,
      title: title ?? capitalised(clip(about, limits.title)),
      style: style ?? clip(about, limits.style),
      prompt: lyrics,
      personaId: voice?.personaId,
    }),
    roughStyle: style === undefined ? clip(about, limits.style) : undefined,
    lyricsAbout: writesLyrics ? words(about, SONG_LIMITS.lyricsPromptWords) : undefined,
    voiceName: voice?.name,
  });
}

/** Throws UserError if a text is longer than the model accepts. */
export function assertLength(text: string, most: number, what: string, option: string, advice = ''): void {
  if (text.length <= most) return;
  const verb = what === 'lyrics' ? 'are' : 'is';
  const sentence = `The ${what} ${verb} too long: ${text.length} characters. The limit is ${most}. ${advice}`;
  throw new UserError(sentence.trim(), option);
}
