/** The buttons under a song. */
import type { CommandAction } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import type { Message } from '../../src/message.ts';
import { change } from './change.ts';
import { coverArt, karaoke, musicVideo, wav } from './derive.ts';
import { extend } from './extend.ts';
import { keepVoice } from './keep-voice.ts';
import { lyricsMarkdown } from './sections.ts';
import { takeButtons } from './song-message.ts';
import { splitAction } from './stems.ts';
import { lyricsOf, takeName, titleOf } from './takes.ts';

export const studioActions = {
  extend,
  stems: splitAction,
  cover: coverArt,
  karaoke,
  wav,
  video: musicVideo,
  voice: keepVoice,
  change,

  lyrics: {
    async run({ job }) {
      const lyrics = lyricsOf(job);
      const message: Message = lyrics
        ? { title: titleOf(job), text: lyricsMarkdown(lyrics) }
        : { text: 'This song has no lyrics.' };
      return { type: 'message', visibility: 'person', message };
    },
  },

  /** The buttons of one take, where a song has too many takes to show all at once. */
  take: {
    async run({ job, index }) {
      if (!job.result?.songs[index]) throw new UserError('This song has no such take.');
      return {
        type: 'message',
        visibility: 'person',
        message: { title: takeName({ job, index }), actions: takeButtons(job, index) },
      };
    },
  },
} as const satisfies Record<string, CommandAction>;
