/**
 * The reconcile loop: loads a job, reads new callbacks, runs the next step, writes the record once, and returns when to run again.
 * Restarts, duplicates, late callbacks and lost timers are all handled by running again.
 */

import { isOpen, type Job } from '../../core/job.ts';
import { secondsBetween } from '../../core/telemetry/series.ts';
import { familyOf, modelOf } from '../../settings/limits/meter.ts';
import type { RunLease } from '../../storage/schedule.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { mayArriveLate } from '../steps/poll.ts';
import { slotExpiresAt } from '../steps/slots.ts';
import { JobRun, type Next } from './run.ts';
import { createSteps, type SharedParts } from './steps.ts';

/** How long an overtaken run waits for the other run before it repairs their messages. */
const YIELD_MS = 1_000;
/** Jobs show progress within seconds. An older job without a message may have posted one that was not recorded. */
const SHOWN_WITHIN_MS = 60_000;

export interface RunFacts extends RunLease {
  readonly signal: AbortSignal;
}

/**
 * Advances a job as far as possible. Resolves to the time of the next run, in milliseconds since the epoch; undefined for never. The
 * schedule runs only one call per job at a time, while its lease is held. An interrupted earlier run may have posted a message that was
 * not recorded.
 */
export type Advance = (id: string, facts: RunFacts) => Promise<number | undefined>;

export function createAdvance(deps: JobDependencies & SharedParts): Advance {
  const { measure, tracer, now, random, sleep, slots, readCallbacks } = deps;
  const steps = createSteps(deps);

  /** Runs a step as a span in the trace of the original command. */
  function runTraced(run: JobRun, signal: AbortSignal): Promise<Next> {
    if (!tracer) return runStep(run, signal);
    const { id, work: request, state, traceparent = 'none' } = run.job;
    const attributes = { 'minstrel.job': id, 'minstrel.route': request.route, 'minstrel.state': state };
    return tracer.run({ name: `step ${state}`, parent: traceparent, attributes }, async (span) => {
      const next = await runStep(run, signal);
      span.set({ 'minstrel.state.after': run.job.state, 'minstrel.failure': run.job.failure?.code });
      return next;
    });
  }

  /** Reads new callbacks, runs the next step, and writes the record. */
  async function runStep(run: JobRun, signal: AbortSignal): Promise<Next> {
    const before = run.job;
    await readCallbacks(run, (at) =>
      measure('minstrel_callback_read_seconds', {}, secondsBetween(at, now())),
    );
    const isRepair = run.job.overtaken !== undefined;
    const next = isRepair ? await steps.repair(run, signal) : await step(run, signal);
    await run.save();
    measureRun(before, run.job);
    // Another run of this job is active. Without a pause, both would overtake each other endlessly.
    if (!isRepair && run.job.overtaken !== undefined) return now() + YIELD_MS * (0.5 + random());
    return next;
  }

  async function step(run: JobRun, signal: AbortSignal): Promise<Next> {
    const { state, cancelRequestedBy } = run.job;
    if (cancelRequestedBy !== undefined && (state === 'accepted' || state === 'waiting')) {
      run.apply({ type: 'cancelled' });
      return 'now';
    }
    const until = heldUntil(run.job);
    if (until > now()) {
      if (state === 'accepted') await steps.channel.showRetryAfter(run);
      return until;
    }
    switch (state) {
      case 'accepted':
        return steps.begin(run, signal);
      case 'submitting':
        return steps.recover(run);
      case 'waiting':
        return wait(run, signal);
      case 'ready':
        return finish(run, signal);
      case 'delivered':
        return undefined;
      case 'failed':
      case 'expired':
      case 'cancelled':
        return steps.pollLate(run, signal);
      default:
        return state satisfies never;
    }
  }

  async function wait(run: JobRun, signal: AbortSignal): Promise<Next> {
    const { job } = run;
    const { resultMode, deadlineMs } = PLANS[job.work.route];
    const deadlineAt = job.deadlineAt ?? job.createdAt + deadlineMs;
    if (now() >= deadlineAt) {
      if (resultMode === 'poll' && job.taskId !== undefined) {
        // A last poll, because the task may have finished since the previous one.
        const next = await steps.poll(run, job.taskId, signal);
        if (next === 'now' || run.job === job) return next;
      }
      run.apply({ type: 'expired' });
      return 'now';
    }
    await steps.channel.showEarly(run, signal);
    const heldUntil = slotExpiresAt(job);
    if (now() >= heldUntil) await slots.release(job);
    const runAt = now() < heldUntil ? Math.min(heldUntil, deadlineAt) : deadlineAt;
    const progressAt = await steps.channel.updateProgress(run);
    if (resultMode !== 'poll' || job.taskId === undefined) return Math.min(runAt, progressAt);
    if (job.polls === 0 && job.attempts === 0) {
      run.apply({ type: 'polled' });
      return Math.min(deadlineAt, steps.nextPollAt(job));
    }
    const next = await steps.poll(run, job.taskId, signal);
    return next === 'now' ? next : Math.min(deadlineAt, next);
  }

  /** Releases the slot, because the gateway is done, and delivers the result. */
  async function finish(run: JobRun, signal: AbortSignal): Promise<Next> {
    // The first try has released it.
    if (run.job.attempts === 0) await slots.release(run.job);
    const retryAt = await steps.deliver(run, signal);
    if (retryAt !== undefined) return retryAt;
    return mayArriveLate(run.job) ? 'now' : undefined;
  }

  /** Records metrics of a step, from the job before and after it. */
  function measureRun(before: Job, after: Job): void {
    const family = familyOf(after.work);
    if (before.submittedAt === undefined && after.submittedAt !== undefined)
      measure('minstrel_submitted_seconds', { family }, secondsBetween(after.createdAt, after.submittedAt));
    if (isOpen(before) && !isOpen(after))
      measure(
        'minstrel_ended_seconds',
        { family, state: after.state },
        secondsBetween(after.createdAt, now()),
      );
    if (!before.undelivered && after.undelivered)
      measure('minstrel_undelivered_total', { platform: after.address.platform });
    const usage = after.result?.answer?.usage;
    if (usage === undefined || before.result?.answer?.usage !== undefined) return;
    const model = modelOf(after.work) ?? 'none';
    measure('minstrel_gateway_tokens_total', { model, direction: 'input' }, usage.inputTokens ?? 0);
    measure('minstrel_gateway_tokens_total', { model, direction: 'output' }, usage.outputTokens ?? 0);
  }

  return async (id, { signal, interrupted, isHeld }) => {
    const run = await JobRun.load(id, deps, { sleep, random, isHeld, signal });
    if (!run) return undefined;
    // Recorded, because a later run may be the next to show a message.
    if (isOpen(run.job) && (interrupted || mayHaveUnrecordedMessage(run.job, now())))
      run.record({ mayHavePosted: true });
    // The interrupted run may have posted after another replica had ended the job.
    if (interrupted && !isOpen(run.job)) run.apply({ type: 'overtaken', posted: {} });
    for (;;) {
      const next = await runTraced(run, signal);
      if (next !== 'now') return next;
      // The next start or another replica continues.
      if (signal.aborted) return now();
    }
  };
}

/** Detects possible unrecorded messages after a lost timer, which also loses the information that a run was interrupted. */
const mayHaveUnrecordedMessage = ({ posted, createdAt }: Job, now: number): boolean =>
  posted === undefined && now - createdAt > SHOWN_WITHIN_MS;

/** End of the Retry-After of the next call, in milliseconds since the epoch. */
function heldUntil({ state, held: { asking = 0, showing = 0 } = {} }: Job): number {
  switch (state) {
    case 'accepted':
      return Math.max(asking, showing);
    case 'ready':
      return showing;
    default:
      // Polls respect Retry-After themselves, and there are no other calls in these states.
      return 0;
  }
}
