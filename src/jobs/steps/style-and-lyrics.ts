/** Polishes the style and requests the lyrics before a song. Both are paid, so each request is sent only once. */
import type { Work } from '../../core/work.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import type { JobRun, Next } from '../runner/run.ts';
import type { FailSubmission } from './failure.ts';

interface StyleAndLyricsParts extends Pick<JobDependencies, 'gateway' | 'callbackUrl' | 'now' | 'log'> {
  readonly failSubmission: FailSubmission;
}

export type StyleAndLyrics = ReturnType<typeof createStyleAndLyrics>;

export function createStyleAndLyrics({
  gateway,
  callbackUrl,
  failSubmission,
  now,
  log,
}: StyleAndLyricsParts) {
  return {
    /** Polishes rough style tags. If that fails, the rough tags are used. Undefined if another run does it. */
    async polishStyle(run: JobRun, signal: AbortSignal): Promise<Work | undefined> {
      const { id, work, polishSent } = run.job;
      if (work.route !== 'music.generate' || work.roughStyle === undefined || polishSent) return work;
      if (!(await run.claim({ type: 'recorded', fields: { polishSent: true } }))) return undefined;
      try {
        const style = await gateway.music.styleGenerate({ content: work.roughStyle }, { signal });
        return { ...work, request: { ...work.request, style } };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        log.info({ job: id, err: error }, 'Could not polish the style; using the original words');
        return work;
      }
    },

    /** Requests the lyrics of a song. Their callback makes the job `accepted` again. */
    async requestLyrics(run: JobRun, work: Work, topic: string): Promise<Next> {
      if (!(await run.claim({ type: 'submitting', work, at: now(), lyrics: true }))) return 'now';
      const { deadlineMs } = PLANS['music.generateLyrics'];
      try {
        const { taskId } = await gateway.music.generateLyrics(
          { prompt: topic, callBackUrl: callbackUrl(run.job.id) },
          { signal: AbortSignal.timeout(deadlineMs) },
        );
        run.apply({ type: 'submitted', taskId, deadlineAt: now() + deadlineMs, at: now() });
        return 'now';
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        return failSubmission(run, error);
      }
    },
  };
}
