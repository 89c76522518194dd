/** Repairs a job whose message was written by two runs: one message is left, and it says the right thing. */
import { isOpen } from '../../core/job.ts';
import { PlatformError } from '../../platforms/platform.ts';
import type { JobDependencies } from '../dependencies.ts';
import { type JobRun, type Next, retryShowing } from '../runner/run.ts';
import { tellPrivately } from './deliver.ts';
import { finalMessage, showInChannel } from './message.ts';

/** Tries against a platform that is away; what is then not taken back stays. */
const TRIES = 12;

/** What a job that is not over shows next is written by its next step. */
export async function repair(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  const { id, address, posted = {}, overtaken = [], undelivered, attempts, held } = run.job;
  if (held?.showing !== undefined && held.showing > deps.now()) return held.showing;
  try {
    for (const stray of overtaken)
      await deps.platform(address.platform)?.retract(address, { key: id, stray, kept: posted });
    if (!isOpen(run.job) && undelivered !== true)
      await showInChannel(run, (await finalMessage(run, signal, deps)).message, deps);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    deps.log.warn({ job: id, err: error }, 'What two replicas posted could not be put right');
    if (error.code === 'unavailable' && attempts < TRIES) return retryShowing(run, error.retryAfterMs, deps);
    await tellElsewhere(run, error, signal, deps);
  }
  run.apply({ type: 'repaired' });
  return 'now';
}

/** What was taken back may have been all: the person is told the end alone, or finds it under /jobs. */
async function tellElsewhere(
  run: JobRun,
  cause: PlatformError,
  signal: AbortSignal,
  deps: JobDependencies,
): Promise<void> {
  if (isOpen(run.job) || run.job.undelivered === true) return;
  const { message } = await finalMessage(run, signal, deps);
  if (!(await tellPrivately(run.job, cause, message, deps).catch(() => false)))
    run.apply({ type: 'recorded', fields: { undelivered: true } });
}
