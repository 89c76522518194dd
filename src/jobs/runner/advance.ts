/**
 * The reconcile loop: loads a job's record, reads the callbacks that came, runs the one step that is next, writes the
 * record once, and says when to run again. A restart, a duplicate, a late callback and a lost timer are all the same
 * case: run again.
 */

import { isOpen, type Job } from '../../core/job.ts';
import { secondsBetween } from '../../core/telemetry/series.ts';
import { familyOf, modelOf } from '../../settings/limits/meter.ts';
import type { RunLease } from '../../storage/schedule.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { mayComeLate } from '../steps/poll.ts';
import { slotHeldUntil } from '../steps/slots.ts';
import { JobRun, type Next } from './run.ts';
import { createSteps, type SharedParts } from './steps.ts';

/** How long an overtaken run waits for the other run, before it repairs what both posted. */
const GIVE_WAY_MS = 1_000;
/** A job shows its progress within seconds; later it may have posted what it could not store. */
const SHOWN_WITHIN_MS = 60_000;

export interface RunFacts extends RunLease {
  readonly signal: AbortSignal;
}

/**
 * Advances a job as far as it goes. The schedule sees to it that only one call for a job runs at a time, as long as its
 * lease is held. Where the run before this one was interrupted, it may have posted what it could not store.
 */
export type Advance = (id: string, facts: RunFacts) => Promise<number | undefined>;

export function createAdvance(deps: JobDependencies & SharedParts): Advance {
  const { storage, measure, tracer, now, random, sleep, slots, readCallbacks } = deps;
  const steps = createSteps(deps);

  /** One step as a span of the trace of the command that asked for the job, in whichever process it runs. */
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

  /** Reads the callbacks that came, runs the one step that is next, and writes the record. */
  async function runStep(run: JobRun, signal: AbortSignal): Promise<Next> {
    const before = run.job;
    await readCallbacks(run, (at) =>
      measure('minstrel_callback_read_seconds', {}, secondsBetween(at, now())),
    );
    const repairs = run.job.overtaken !== undefined;
    const next = repairs ? await steps.repair(run, signal) : await step(run, signal);
    await run.save();
    measureRun(before, run.job);
    // Another run of this job is at work. If both went on, they would overtake each other without end.
    if (!repairs && run.job.overtaken !== undefined) return now() + GIVE_WAY_MS * (0.5 + random());
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
      if (state === 'accepted') await steps.channel.showHeld(run);
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
    const { comesBack, deadlineMs } = PLANS[job.work.route];
    const deadlineAt = job.deadlineAt ?? job.createdAt + deadlineMs;
    if (now() >= deadlineAt) {
      if (comesBack === 'poll' && job.taskId !== undefined) {
        // What was finished while it was not asked about is not called late.
        const next = await steps.poll(run, job.taskId, signal);
        if (next === 'now' || run.job === job) return next;
      }
      run.apply({ type: 'expired' });
      return 'now';
    }
    await steps.channel.showEarly(run, signal);
    const heldUntil = slotHeldUntil(job);
    if (now() >= heldUntil) await slots.release(job);
    const runAt = now() < heldUntil ? Math.min(heldUntil, deadlineAt) : deadlineAt;
    const tellAgainAt = await steps.channel.tellProgress(run);
    if (comesBack !== 'poll' || job.taskId === undefined) return Math.min(runAt, tellAgainAt);
    if (job.polls === 0 && job.attempts === 0) {
      run.apply({ type: 'polled' });
      return Math.min(deadlineAt, steps.whenToPoll(job));
    }
    const next = await steps.poll(run, job.taskId, signal);
    return next === 'now' ? next : Math.min(deadlineAt, next);
  }

  /** Shows the end. The gateway has done its part, so the next in line may ask it. */
  async function finish(run: JobRun, signal: AbortSignal): Promise<Next> {
    // Later tries come after a first one, which released.
    if (run.job.attempts === 0) await slots.release(run.job);
    const again = await steps.deliver(run, signal);
    if (again !== undefined) return again;
    return mayComeLate(run.job) ? 'now' : undefined;
  }

  /** Numbers for operators about what a run did. `before`: the job as it was loaded, or saved last. */
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
    const run = await JobRun.load(id, storage, { sleep, random, isHeld, signal });
    if (!run) return undefined;
    // Recorded, because a later run may be the first that shows something again.
    if (isOpen(run.job) && (interrupted || isLongUnshown(run.job, now())))
      run.record({ mayHavePosted: true });
    // It may have posted for a job that another replica ended meanwhile.
    if (interrupted && !isOpen(run.job)) run.apply({ type: 'overtaken', posted: {} });
    for (;;) {
      const next = await runTraced(run, signal);
      if (next !== 'now') return next;
      // Handed over to the next start, or to another replica.
      if (signal.aborted) return now();
    }
  };
}

/** When a timer is lost, it is forgotten that a run was interrupted: the next wake-up does not know it. */
const isLongUnshown = ({ posted, createdAt }: Job, now: number): boolean =>
  posted === undefined && now - createdAt > SHOWN_WITHIN_MS;

/** Until when the call that comes next was asked to wait, in milliseconds since the epoch. */
function heldUntil({ state, held: { asking = 0, showing = 0 } = {} }: Job): number {
  switch (state) {
    case 'accepted':
      return Math.max(asking, showing);
    case 'ready':
      return showing;
    default:
      // Polls keep their own Retry-After, and nothing else is called there.
      return 0;
  }
}
