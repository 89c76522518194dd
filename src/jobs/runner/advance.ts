/**
 * The reconcile loop: loads a job's record, reads the callbacks that came, runs the one step that is next, writes the
 * record once, and says when to run again. A restart, a duplicate, a late callback and a lost timer are all the same
 * case: run again.
 */

import { isOpen, type Job } from '../../core/job.ts';
import type { Tracer } from '../../core/telemetry/tracer.ts';
import type { Work } from '../../core/work.ts';
import { keysOf, readMusicCallback } from '../../gateway/music/callback.ts';
import { parseJson } from '../../gateway/transport/json.ts';
import { modelOf } from '../../settings/limits/meter.ts';
import type { RunLease } from '../../storage/schedule.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobEvent } from '../events.ts';
import { PLANS } from '../route-plans.ts';
import { sentenceFor } from '../sentences.ts';
import { begin, releaseSlot, slotHeldUntil } from '../steps/begin.ts';
import { deliver } from '../steps/deliver.ts';
import { showEarly, showHeld, tellProgress } from '../steps/message.ts';
import { poll, pollLate, whenToPoll } from '../steps/poll.ts';
import { repair } from '../steps/repair.ts';
import { recover } from '../steps/send.ts';
import { fromMusic } from '../transitions.ts';
import { JobRun, mayComeLate, type Next, seconds } from './run.ts';

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
export async function advance(
  id: string,
  { signal, interrupted, isHeld }: RunFacts,
  deps: JobDependencies,
): Promise<number | undefined> {
  const run = await JobRun.load(id, deps.storage, { ...deps, isHeld, signal });
  if (!run) return undefined;
  // Recorded, because a later run may be the first that shows something again.
  if (isOpen(run.job) && (interrupted || isLongUnshown(run.job, deps.now())))
    run.apply({ type: 'recorded', fields: { mayHavePosted: true } });
  // It may have posted for a job that another replica ended meanwhile.
  if (interrupted && !isOpen(run.job)) run.apply({ type: 'overtaken', posted: {} });
  for (;;) {
    const work = () => runStep(run, signal, deps);
    const next = await (deps.tracer ? inSpan(run, deps.tracer, work) : work());
    if (next !== 'now') return next;
    // Handed over to the next start, or to another replica.
    if (signal.aborted) return deps.now();
  }
}

/** One step as a span of the trace of the command that asked for the job, in whichever process it runs. */
function inSpan(run: JobRun, tracer: Tracer, work: () => Promise<Next>): Promise<Next> {
  const { id, work: request, state, traceparent = 'none' } = run.job;
  const attributes = { 'minstrel.job': id, 'minstrel.route': request.route, 'minstrel.state': state };
  return tracer.run({ name: `step ${state}`, parent: traceparent, attributes }, async (span) => {
    const next = await work();
    span.set({ 'minstrel.state.after': run.job.state, 'minstrel.failure': run.job.failure?.code });
    return next;
  });
}

/** Reads the callbacks that came, runs the one step that is next, and writes the record. */
async function runStep(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  const before = run.job;
  await readCallbacks(run, deps, (at) =>
    deps.measure('minstrel_callback_read_seconds', {}, seconds(at, deps.now())),
  );
  const repairs = run.job.overtaken !== undefined;
  const next = repairs ? await repair(run, signal, deps) : await step(run, signal, deps);
  await run.save();
  measureRun(before, run.job, deps);
  // Another run of this job is at work. If both went on, they would overtake each other without end.
  if (!repairs && run.job.overtaken !== undefined) return deps.now() + GIVE_WAY_MS * (0.5 + deps.random());
  return next;
}

/** When a timer is lost, it is forgotten that a run was interrupted: the next wake-up does not know it. */
const isLongUnshown = ({ posted, createdAt }: Job, now: number): boolean =>
  posted === undefined && now - createdAt > SHOWN_WITHIN_MS;

async function step(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  const { state, cancelRequestedBy } = run.job;
  if (cancelRequestedBy !== undefined && (state === 'accepted' || state === 'waiting')) {
    run.apply({ type: 'cancelled' });
    return 'now';
  }
  const until = heldUntil(run.job);
  if (until > deps.now()) {
    if (state === 'accepted') await showHeld(run, deps);
    return until;
  }
  switch (state) {
    case 'accepted':
      return begin(run, signal, deps);
    case 'submitting':
      return recover(run, deps);
    case 'waiting':
      return wait(run, signal, deps);
    case 'ready':
      return finish(run, signal, deps);
    case 'delivered':
      return undefined;
    case 'failed':
    case 'expired':
    case 'cancelled':
      return pollLate(run, signal, deps);
    default:
      return state satisfies never;
  }
}

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

async function wait(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  const { job } = run;
  const { comesBack, deadlineMs } = PLANS[job.work.route];
  const deadlineAt = job.deadlineAt ?? job.createdAt + deadlineMs;
  if (deps.now() >= deadlineAt) {
    if (comesBack === 'poll' && job.taskId !== undefined) {
      // What was finished while it was not asked about is not called late.
      const next = await poll(run, job.taskId, signal, deps);
      if (next === 'now' || run.job === job) return next;
    }
    run.apply({ type: 'expired' });
    return 'now';
  }
  await showEarly(run, signal, deps);
  const heldUntil = slotHeldUntil(job);
  if (deps.now() >= heldUntil) await releaseSlot(job, deps);
  const runAt = deps.now() < heldUntil ? Math.min(heldUntil, deadlineAt) : deadlineAt;
  const tellAgainAt = await tellProgress(run, deps);
  if (comesBack !== 'poll' || job.taskId === undefined) return Math.min(runAt, tellAgainAt);
  if (job.polls === 0 && job.attempts === 0) {
    run.apply({ type: 'polled' });
    return Math.min(deadlineAt, whenToPoll(job, deps));
  }
  const next = await poll(run, job.taskId, signal, deps);
  return next === 'now' ? next : Math.min(deadlineAt, next);
}

/** Shows the end. The gateway has done its part, so the next in line may ask it. */
async function finish(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  // Later tries come after a first one, which released.
  if (run.job.attempts === 0) await releaseSlot(run.job, deps);
  const again = await deliver(run, signal, deps);
  if (again !== undefined) return again;
  return mayComeLate(run.job) ? 'now' : undefined;
}

type CallbackDependencies = Pick<JobDependencies, 'storage' | 'newId' | 'log'>;

/** Applies the callbacks that came since the last save, in their order. Throws StorageError. */
export async function readCallbacks(
  run: JobRun,
  deps: CallbackDependencies,
  onRead: (receivedAt: number, event: JobEvent | undefined) => void = () => {},
): Promise<void> {
  for (const { sequence, body, receivedAt } of await deps.storage.inbox.read(run.job.id, run.job.inboxRead)) {
    const event = eventOf(body, receivedAt, run.job, deps);
    onRead(receivedAt, event);
    if (event) run.apply(event);
    run.apply({ type: 'recorded', fields: { inboxRead: sequence } });
  }
}

/** A result beats every other end, however late it comes; a failure beats only waiting. */
function eventOf(
  body: string,
  at: number,
  job: Job,
  { newId, log }: Pick<CallbackDependencies, 'newId' | 'log'>,
): JobEvent | undefined {
  const { stage, taskId, ...callback } = readMusicCallback(body);
  if (taskId !== undefined && job.taskId !== undefined && taskId !== job.taskId) {
    // The signed URL names the job; the task in the body is only a hint.
    log.warn({ job: job.id, task: job.taskId, named: taskId }, 'A callback names another task than its URL');
  }
  const result = fromMusic(callback.result);
  if (job.lyrics !== undefined && stage === 'complete' && result.songs.length === 0) {
    // Too late to be sung by themselves: the song would be paid for when its person does not wait any more.
    if (job.lyrics === 'sent' && job.end !== undefined && result.lyrics.length > 0)
      return { type: 'completed', result, at };
    const work = withLyrics(job.work, result.lyrics[0]?.text);
    return work && { type: 'lyricsWritten', work };
  }
  switch (stage) {
    case 'unknown':
      tellKeys(body, job, log);
      return { type: 'progressed', taskId, isUnreadable: true };
    case 'pending':
      return { type: 'progressed', taskId };
    case 'text':
    case 'first':
      return { type: 'progressed', taskId, result };
    case 'complete':
      return { type: 'completed', taskId, result, at };
    case 'failed': {
      // A late failure of the lyrics that came before a song.
      if (job.taskId !== undefined && taskId !== undefined && taskId !== job.taskId) return undefined;
      const reference = newId();
      const failure = callback.failure ?? { code: 'nonsense' as const };
      if (failure.code === 'nonsense') tellKeys(body, job, log);
      log.warn({ job: job.id, reference, code: failure.code }, 'The gateway reports that the work failed');
      const sentence = sentenceFor(failure.code, job.work);
      return { type: 'failed', failure: { code: failure.code, sentence, reference, taken: 'no' } };
    }
    default:
      return stage satisfies never;
  }
}

/** What is in a callback stays in the inbox; the log has the names of its members only. */
function tellKeys(body: string, { id }: Job, log: CallbackDependencies['log']): void {
  log.warn({ job: id, bytes: body.length }, 'A callback that was not understood; its body is kept');
  log.debug({ job: id, keys: keysOf(parseJson(body)) }, 'The keys of a callback that was not understood');
}

/** The work with its words; undefined where it waits for none. */
function withLyrics(work: Work, lyrics: string | undefined): Work | undefined {
  if (lyrics === undefined || !('lyricsAbout' in work)) return undefined;
  switch (work.route) {
    case 'music.generate':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    case 'music.uploadCover':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    default:
      return work satisfies never;
  }
}

/** Numbers for operators about what a run did. `before`: the job as it was loaded, or saved last. */
function measureRun(
  before: Job,
  after: Job,
  { measure, familyOf, now }: Pick<JobDependencies, 'measure' | 'familyOf' | 'now'>,
): void {
  const family = familyOf(after.work);
  if (before.submittedAt === undefined && after.submittedAt !== undefined)
    measure('minstrel_submitted_seconds', { family }, seconds(after.createdAt, after.submittedAt));
  if (isOpen(before) && !isOpen(after))
    measure('minstrel_ended_seconds', { family, state: after.state }, seconds(after.createdAt, now()));
  if (!before.undelivered && after.undelivered)
    measure('minstrel_undelivered_total', { platform: after.address.platform });
  const usage = after.result?.answer?.usage;
  if (usage === undefined || before.result?.answer?.usage !== undefined) return;
  const model = modelOf(after.work) ?? 'none';
  measure('minstrel_gateway_tokens_total', { model, direction: 'input' }, usage.inputTokens ?? 0);
  measure('minstrel_gateway_tokens_total', { model, direction: 'output' }, usage.outputTokens ?? 0);
}
