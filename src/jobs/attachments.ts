/** What people attached, looked for before anything is spent: months may lie between a job and its `Again`. */
import { MediaError } from '../media/errors.ts';
import type { KeptFile } from '../message.ts';
import type { Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job, JobFailure } from './job.ts';

/** Why the work cannot be asked for: a file that it needs is not kept any more, or cannot be looked for. */
export async function attachmentFailure(
  job: Job,
  { media, newId, log }: Pick<JobDependencies, 'media' | 'newId' | 'log'>,
): Promise<JobFailure | undefined> {
  const fail = (code: string, sentence: string, cause?: MediaError): JobFailure => {
    const reference = newId();
    log.warn({ job: job.id, reference, code, err: cause }, 'What was attached cannot be used');
    return { code, sentence, reference, taken: 'no' };
  };
  try {
    const found = await Promise.all(attachedFiles(job.work).map(({ name }) => media.stat(name)));
    if (found.every((file) => file !== undefined)) return undefined;
    return fail('missing', 'What was attached is not kept any more. Please ask again and attach it anew.');
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return fail(
      error.code,
      'I cannot reach the files I keep right now, so I have not started. Nothing was spent; please press Again soon.',
      error,
    );
  }
}

/** Files without which the work cannot be done. Pictures of a talk can: a note takes their place. */
function attachedFiles(work: Work): KeptFile[] {
  const image = 'image' in work ? work.image : undefined;
  const audio = 'audio' in work ? work.audio : undefined;
  return [image, audio].filter((file) => file !== undefined);
}
