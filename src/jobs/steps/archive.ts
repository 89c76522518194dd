/** All files of a result as one archive, in addition to the files themselves. */

import type { Message } from '../../core/message.ts';
import { MediaError } from '../../media/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';

/** The key of the archive among a job's kept files; no address begins like this. */
const ARCHIVE = 'archive:';

/**
 * The message with its archive as the last file. `message` has its files kept, under safe names. The archive is made
 * once and remembered; where it cannot be stored, the message is sent without it.
 */
export async function withArchive(
  message: Message,
  name: string,
  run: JobRun,
  deps: Pick<JobDependencies, 'media' | 'log'>,
): Promise<Message> {
  const media = message.media ?? [];
  const entries = media.flatMap(({ name: inside, source }) =>
    source.type === 'kept' ? [{ name: inside, file: source.file.name }] : [],
  );
  // What is in it is part of the key: a file that came late makes another archive.
  const key = ARCHIVE + entries.map(({ name: inside, file }) => `${inside}=${file}`).join('|');
  try {
    let file = run.job.kept[key] ?? undefined;
    if (!file) {
      file = await deps.media.archive(entries);
      run.apply({ type: 'recorded', fields: { kept: { ...run.job.kept, [key]: file } } });
    }
    return {
      ...message,
      media: [...media, { kind: 'file', name: `${name}.zip`, source: { type: 'kept', file } }],
    };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    deps.log.warn({ job: run.job.id, err: error }, 'An archive could not be made; the files go alone');
    return message;
  }
}
