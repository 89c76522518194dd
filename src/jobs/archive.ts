/** All files of a result as one archive, beside the files themselves. */
import { MediaError } from '../media/errors.ts';
import type { Message } from '../message.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate } from './record.ts';

/** Under which a job remembers its archive among its kept files; no address begins like this. */
const ARCHIVE = 'archive:';

/**
 * The message with its archive as the last file. `message` has its files kept, under safe names. The archive is made
 * once and remembered; where there is no room for it, the message goes without.
 */
export async function withArchive(
  message: Message,
  name: string,
  job: Job,
  d: Pick<JobDependencies, 'storage' | 'media' | 'log'>,
): Promise<Message> {
  const media = message.media ?? [];
  const entries = media.flatMap(({ name: inside, source }) =>
    source.type === 'kept' ? [{ name: inside, file: source.file.name }] : [],
  );
  // What is in it is part of the key: a file that came late makes another archive.
  const key = ARCHIVE + entries.map(({ name: inside, file }) => `${inside}=${file}`).join('|');
  try {
    let file = job.kept[key] ?? undefined;
    if (!file) {
      const { name: kept, bytes, contentType } = await d.media.archive(entries);
      const made = { name: kept, bytes, contentType };
      file = made;
      await mutate(d.storage, job.id, (current) => ({
        ...current,
        kept: { ...current.kept, [key]: made },
      }));
    }
    return {
      ...message,
      media: [...media, { kind: 'file', name: `${name}.zip`, source: { type: 'kept', file } }],
    };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'An archive could not be made; the files go alone');
    return message;
  }
}
