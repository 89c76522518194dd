/** What a result was made from: its job, a link to it, and what it adds to the message of the result. */

import type { Job } from '../../core/job.ts';
import type { Message } from '../../core/message.ts';
import { present } from '../../core/present.ts';
import type { JobDependencies } from '../dependencies.ts';

export type Source = ReturnType<typeof createSource>;

/** A link is worth no failure. */
export function createSource({
  storage,
  platform,
  log,
}: Pick<JobDependencies, 'storage' | 'platform' | 'log'>) {
  return {
    /** A link to the message of a job. */
    async linkTo({ id, address, posted }: Job): Promise<string | undefined> {
      try {
        return posted && (await platform(address.platform)?.linkTo?.(address, posted));
      } catch (error) {
        log.warn({ job: id, err: error }, 'What a result was made from could not be linked to');
        return undefined;
      }
    },

    /** The job that a job's work was made from. */
    async readParent({ parent }: Job): Promise<Job | undefined> {
      try {
        return parent === undefined ? undefined : await storage.jobs.read(parent);
      } catch (error) {
        log.warn({ job: parent, err: error }, 'What a result was made from could not be read');
        return undefined;
      }
    },
  };
}

/**
 * The message of a WAV with what its song adds to it; any other message as it is. The WAV carries the song's tags, and
 * where it is too large the song goes instead.
 */
export function withSourceSong(message: Message, { work }: Job, parent: Job): Message {
  if (work.route !== 'music.wavGenerate') return message;
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
              ...present({ lyrics, coverUrl: imageUrl }),
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
