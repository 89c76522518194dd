/** The result of any work of the music studio. */
import type { Message } from '../../src/message.ts';
import type { JobView } from '../../src/work.ts';
import {
  coverArtMessage,
  karaokeMessage,
  keptVoiceMessage,
  musicVideoMessage,
  wavMessage,
} from './derived-messages.ts';
import { songMessage } from './song-message.ts';

export function resultMessage(job: JobView): Message {
  switch (job.work.route) {
    case 'music.generateCover':
      return coverArtMessage(job);
    case 'music.timestampedLyrics':
      return karaokeMessage(job);
    case 'music.wavGenerate':
      return wavMessage(job);
    case 'music.mp4Generate':
      return musicVideoMessage(job);
    case 'music.generatePersona':
      return keptVoiceMessage(job);
    default:
      return songMessage(job);
  }
}
