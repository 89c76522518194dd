/** Repairs a job whose message was written by two runs: one message is left, and it says the right thing. */
import { isOpen } from '../../core/job.ts';
import { PlatformError } from '../../platforms/platform.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun, Step } from '../runner/run.ts';
import type { JobChannel } from './channel.ts';
import type { FinalMessage } from './message.ts';

/** Tries against a platform that is away; what is then not taken back stays. */
const TRIES = 12;

interface RepairParts extends Pick<JobDependencies, 'platform' | 'now' | 'log'> {
  readonly channel: JobChannel;
  readonly finalMessage: FinalMessage;
}

/** What a job that is not over shows next is written by its next step. */
export function createRepair({ platform, channel, finalMessage, now, log }: RepairParts): Step {
  /** What was taken back may have been all: the person is told the end alone, or finds it under /jobs. */
  async function tellElsewhere(run: JobRun, cause: PlatformError, signal: AbortSignal): Promise<void> {
    if (isOpen(run.job) || run.job.undelivered === true) return;
    const { message } = await finalMessage(run, signal);
    if (!(await channel.tellPrivately(run.job, cause, message).catch(() => false)))
      run.record({ undelivered: true });
  }

  return async (run, signal) => {
    const { id, address, posted = {}, overtaken = [], undelivered, attempts, held } = run.job;
    if (held?.showing !== undefined && held.showing > now()) return held.showing;
    try {
      for (const stray of overtaken)
        await platform(address.platform)?.retract(address, { key: id, stray, kept: posted });
      if (!isOpen(run.job) && undelivered !== true)
        await channel.show(run, (await finalMessage(run, signal)).message);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      log.warn({ job: id, err: error }, 'Could not clean up the messages of two replicas');
      if (error.code === 'unavailable' && attempts < TRIES) return channel.showLater(run, error.retryAfterMs);
      await tellElsewhere(run, error, signal);
    }
    run.apply({ type: 'repaired' });
    return 'now';
  };
}
