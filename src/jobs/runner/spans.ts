/** The spans of a job, in the trace of the command that asked for it, whichever process runs it. */
import type { Job } from '../../core/job.ts';
import type { Tracer } from '../../core/telemetry/trace.ts';
import type { JobEvent } from '../events.ts';
import { PLANS } from '../route-plans.ts';
import type { JobRun, Next } from './run.ts';

/** A timer may carry the trace of whatever set it, and records of before have none: what the record says counts. */
const parentOf = ({ traceparent = 'none' }: Job): string => traceparent;
const namesOf = ({ id, work }: Job) => ({ 'minstrel.job': id, 'minstrel.route': work.route });

/** Runs one step of the job in a span. */
export function stepSpan(run: JobRun, tracer: Tracer, work: () => Promise<Next>): Promise<Next> {
  const { job } = run;
  const attributes = { ...namesOf(job), 'minstrel.state': job.state };
  return tracer.run({ span: 'step', parent: parentOf(job), attributes }, async (span) => {
    const next = await work();
    span.set({ 'minstrel.state.after': run.job.state, 'minstrel.failure': run.job.failure?.code });
    return next;
  });
}

/** A callback that was read. `event`: what it meant; `times` in milliseconds since the epoch. */
export function recordCallback(
  job: Job,
  event: JobEvent | undefined,
  times: { readonly from: number; readonly to: number },
  tracer: Tracer,
): void {
  const attributes = { 'minstrel.job': job.id, 'minstrel.event': event?.type ?? 'none' };
  tracer.record({ span: 'callback', parent: parentOf(job), attributes }, times);
}

/** What a step brought to its end: the time in the queue, and the time at the gateway. */
export function recordTimes(before: Job, after: Job, tracer: Tracer): void {
  const { createdAt, submittedAt, endedAt, startedAt, work } = after;
  const parent = parentOf(after);
  if (before.submittedAt === undefined && submittedAt !== undefined) {
    const attributes = { ...namesOf(after), 'minstrel.queued': startedAt !== undefined };
    tracer.record({ span: 'queue', parent, attributes }, { from: createdAt, to: submittedAt });
  }
  const { comesBack } = PLANS[work.route];
  const isAway = comesBack === 'callback' || comesBack === 'poll';
  if (isAway && submittedAt !== undefined && before.endedAt === undefined && endedAt !== undefined)
    tracer.record({ span: 'wait', parent, attributes: namesOf(after) }, { from: submittedAt, to: endedAt });
}
