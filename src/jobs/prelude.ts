/** What a song may need before it is asked for: polished style tags, and lyrics. Each is paid for, so each is asked once. */
import { GatewayError } from '../gateway/errors.ts';
import type { Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import { failSubmission } from './failure.ts';
import type { Job } from './job.ts';
import { mutate } from './record.ts';
import { ROUTES } from './routes.ts';

/** Polishes rough style tags once. The polish is paid for, so it is never sent twice; without it the rough tags serve. */
export async function polishStyle(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Work> {
  const { work } = job;
  if (work.route !== 'music.generate' || work.roughStyle === undefined || job.polish !== undefined)
    return work;
  await mutate(d.storage, job.id, (current) => ({ ...current, polish: 'sent' }));
  try {
    const style = await d.gateway.music.styleGenerate({ content: work.roughStyle }, { signal });
    return { ...work, request: { ...work.request, style } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    d.log.info({ job: job.id, err: error }, 'The style was not polished; the words as they came serve');
    return work;
  }
}

/** Asks for the lyrics of a song. They come to the job's own callback, which makes the job `accepted` again. */
export async function writeLyrics(
  job: Job,
  work: Work,
  about: string,
  d: JobDependencies,
): Promise<'now' | number> {
  const submitting = await mutate(d.storage, job.id, (current) =>
    current.state === 'accepted' && current.cancelRequestedBy === undefined
      ? { ...current, work, state: 'submitting', lyrics: 'sent', submittedAt: d.now() }
      : current,
  );
  if (submitting?.state !== 'submitting') return 'now';
  const { deadlineMs } = ROUTES['music.generateLyrics'];
  try {
    const { taskId } = await d.gateway.music.generateLyrics(
      { prompt: about, callBackUrl: d.callbackUrl(job.id) },
      { signal: AbortSignal.timeout(deadlineMs) },
    );
    await mutate(d.storage, job.id, (current) =>
      current.state === 'submitting'
        ? {
            ...current,
            ...(taskId === undefined ? {} : { taskId }),
            state: 'waiting',
            deadlineAt: d.now() + deadlineMs,
          }
        : current,
    );
    return 'now';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.taken === 'no') await mutate(d.storage, job.id, ({ lyrics: _sent, ...rest }) => rest);
    return failSubmission(submitting, error, d);
  }
}
