/** Repairs a job whose message was written by two runs: deletes extra messages and updates the remaining one. */
import { isOpen } from '../../core/job.ts';
import { PlatformError } from '../../platforms/platform.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun, Step } from '../runner/run.ts';
import type { JobChannel } from './channel.ts';
import type { FinalMessage } from './message.ts';

/** Tries while the platform is unavailable. After that, extra messages stay. */
const TRIES = 12;

interface RepairParts extends Pick<JobDependencies, 'platform' | 'now' | 'log'> {
  readonly channel: JobChannel;
  readonly finalMessage: FinalMessage;
}

/** Only ended jobs are shown again here. The next step of an open job writes its message. */
export function createRepair({ platform, channel, finalMessage, now, log }: RepairParts): Step {
  /** The remaining message may be deleted, too, so the requester gets a direct message or finds the result in /jobs. */
  async function reportElsewhere(run: JobRun, cause: PlatformError, signal: AbortSignal): Promise<void> {
    if (isOpen(run.job) || run.job.undelivered === true) return;
    const { message } = await finalMessage(run, signal);
    if (!(await channel.sendPrivately(run.job, cause, message).catch(() => false)))
      run.record({ undelivered: true });
  }

  return async (run, signal) => {
    const { id, address, posted = {}, overtaken = [], undelivered, attempts, held } = run.job;
    if (held?.showing !== undefined && held.showing > now()) return held.showing;
    try {
      for (const stray of overtaken)
        await platform(address.platform)?.retract(address, { key: id, stray, current: posted });
      if (!isOpen(run.job) && undelivered !== true)
        await channel.show(run, (await finalMessage(run, signal)).message);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      log.warn({ job: id, err: error }, 'Could not clean up the messages of two replicas');
      if (error.code === 'unavailable' && attempts < TRIES) return channel.showLater(run, error.retryAfterMs);
      await reportElsewhere(run, error, signal);
    }
    run.apply({ type: 'repaired' });
    return 'now';
  };
}
