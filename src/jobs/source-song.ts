/** A WAV is a song that exists already: it carries that song's tags, and where it is too large the song goes instead. */
import type { Message } from '../message.ts';
import type { Job } from './job.ts';

/** The message of a WAV with what its song adds to it; any other message as it is. */
export function withSourceSong(message: Message, { work }: Job, parent: Job | undefined): Message {
  if (work.route !== 'music.wavGenerate' || parent === undefined) return message;
  const song = parent.result?.songs.find(({ audioId }) => audioId === work.request.audioId);
  if (song === undefined) return message;
  const { audioUrl, title, lyrics, imageUrl } = song;
  return {
    ...message,
    media: (message.media ?? []).map((item) =>
      item.kind === 'audio'
        ? {
            tags: {
              title: title ?? item.name,
              artist: `Minstrel for ${parent.person.displayName}`,
              ...(lyrics === undefined ? {} : { lyrics }),
              ...(imageUrl === undefined ? {} : { coverUrl: imageUrl }),
            },
            ...(audioUrl === undefined
              ? {}
              : { smaller: { name: item.name, source: { type: 'remote' as const, url: audioUrl } } }),
            ...item,
          }
        : item,
    ),
  };
}
