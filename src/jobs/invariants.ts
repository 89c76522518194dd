/** Promises that every write of a job keeps. They share no code with the state machine, so that its mistakes are noticed in production. */
import type { Job, JobState } from '../core/job.ts';
import type { JobDependencies } from './dependencies.ts';

const UNDECIDED: ReadonlySet<JobState> = new Set(['accepted', 'submitting', 'waiting']);
const ENDED: ReadonlySet<JobState> = new Set(['delivered', 'failed', 'expired', 'cancelled']);

/** Whether a write keeps each of them. Records of older versions count only when their state changes. */
const CHECKS = {
  /** A job stays the same request of the same person. */
  identity: (before, after) =>
    before.id === after.id &&
    before.invocation === after.invocation &&
    before.person.id === after.person.id &&
    before.createdAt === after.createdAt,
  /** A result is never lost. */
  result: (before, after) => before.result === undefined || after.result !== undefined,
  /** A paid request is recorded before it is sent. */
  written_ahead: (before, after) => after.state !== 'waiting' || before.state !== 'accepted',
  /** A decided job never sends a request again. */
  sent_once: (before, after) => UNDECIDED.has(before.state) || !UNDECIDED.has(after.state),
  /** A job is not sent after its cancellation was stored. */
  cancelled: (before, after) =>
    before.state !== 'accepted' || before.cancelRequestedBy === undefined || after.state !== 'submitting',
  /** A decided job knows its end, and ends with it. */
  end: (before, after) =>
    before.state === after.state ||
    UNDECIDED.has(after.state) ||
    (after.end !== undefined && (after.state === 'ready' || after.state === after.end)),
  /** A failure has a sentence. */
  sentence: (before, after) =>
    before.end === after.end || after.end !== 'failed' || after.failure !== undefined,
  /** An ended job knows whether it was charged. */
  charge: (before, after) =>
    before.state === after.state || !ENDED.has(after.state) || after.charged !== undefined,
} as const satisfies Record<string, (before: Job, after: Job) => boolean>;

export type Invariant = keyof typeof CHECKS;
// Sound because these are the names of the object above.
export const INVARIANTS = Object.keys(CHECKS) as Invariant[];

/** Returns the invariants that a write from one record to the next breaks. */
export const brokenInvariants = (before: Job, after: Job): Invariant[] =>
  INVARIANTS.filter((name) => !CHECKS[name](before, after));

/** Counts and reports the invariants that a write broke. */
export function checkWrite(
  before: Job,
  after: Job,
  { measure, log }: Pick<JobDependencies, 'measure' | 'log'>,
): void {
  for (const invariant of brokenInvariants(before, after)) {
    measure('minstrel_invariants_broken_total', { invariant });
    log.error(
      { job: after.id, invariant, from: before.state, to: after.state },
      'A job was written that breaks an invariant; please report this',
    );
  }
}
