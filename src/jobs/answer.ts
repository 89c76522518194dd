/** Asks a language model and writes the answer into the channel as it comes. */
import { GatewayError } from '../gateway/errors.ts';
import { PlatformError } from '../platforms/platform.ts';
import { StorageError } from '../storage/storage.ts';
import type { AnswerWork } from '../work.ts';
import { failAnswer } from './answer-failure.ts';
import { createPainter } from './answer-painter.ts';
import { type StopWatch, watchForStop } from './answer-stop.ts';
import { answerSteps } from './answer-ways.ts';
import { type AnswerWriting, createAnswerWriting } from './answer-writing.ts';
import type { JobDependencies } from './dependencies.ts';
import { finalMessage } from './final-message.ts';
import type { Job } from './job.ts';
import { mutate } from './record.ts';
import { ROUTES } from './routes.ts';
import { INTERRUPTED_SENTENCE } from './sentences.ts';
import { digestOf, progressMessage, showOptions } from './show.ts';

/** How often what has come so far is stored, so that a crash loses little of it. */
const KEEP_EVERY_MS = 3_000;

/**
 * Streams the answer of a job in state `submitting`. The record ends `ready`: with the whole answer, with what stood
 * when it was stopped or broke, or with a failure when not a word came. On shutdown what came is kept as broken.
 */
export async function streamAnswer(
  job: Job,
  work: AnswerWork,
  shutdown: AbortSignal,
  d: JobDependencies,
): Promise<'now' | number> {
  using watch = await watchForStop(job.id, shutdown, d);
  const stream = d.platform(job.address.platform)?.stream(job.address, showOptions(job, d));
  const writing = createAnswerWriting(job.id, d);
  const show = () =>
    stream?.update(progressMessage({ ...job, result: writing.into(job.result) }, ROUTES.answer.stage, d));
  const failure = await write(job, work, { writing, watch, show }, d);

  if (!watch.stopped && writing.empty) {
    if (failure && !shutdown.aborted) return failAnswer(job, work, failure, d);
    if (shutdown.aborted) return interrupted(job, d);
  }
  // A wish that came after the end changes nothing.
  if (!writing.answer.finish) writing.end({ reason: watch.stopped ? 'stopped' : 'broken' });

  const ready = await mutate(d.storage, job.id, (current) => ({
    ...current,
    result: writing.into(current.result),
    state: 'ready',
    end: 'delivered',
    attempts: 0,
  }));
  if (!ready || !stream) return 'now';
  try {
    const { message } = await finalMessage(ready, shutdown, d);
    const posted = await stream.close(message);
    await mutate(d.storage, job.id, (current) => ({ ...current, posted, shown: digestOf(message) }));
  } catch (error) {
    // The delivery that follows writes the same message, and knows how to go on when the platform is away.
    if (!(error instanceof PlatformError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'The end of an answer could not be written at once');
  }
  return 'now';
}

interface Desk {
  readonly writing: AnswerWriting;
  readonly watch: StopWatch;
  readonly show: () => void;
}

/** Writes until the answer ends, whatever way it ends. Resolves to why it did not reach its own end. */
async function write(
  job: Job,
  work: AnswerWork,
  { writing, watch, show }: Desk,
  d: JobDependencies,
): Promise<GatewayError | undefined> {
  using painter = createPainter(show);
  let keptAt = d.now();
  try {
    if (watch.signal.aborted) return undefined;
    for await (const step of answerSteps(job, work, watch.signal, d)) {
      await writing.add(step);
      if (step.type === 'finish') continue;
      if (!writing.empty) painter.soon();
      if (writing.endless) {
        writing.end({ reason: 'endless' });
        return undefined;
      }
      if (d.now() - keptAt < KEEP_EVERY_MS && step.type !== 'call') continue;
      keptAt = d.now();
      await keep(job, writing, d);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (!watch.stopped && !writing.empty)
      d.log.warn({ job: job.id, err: error }, 'An answer did not reach its end');
    return error;
  }
}

/** Storage that is away for a moment is no reason to lose what the gateway still says. */
async function keep(job: Job, writing: AnswerWriting, d: JobDependencies): Promise<void> {
  try {
    await mutate(d.storage, job.id, (current) => ({ ...current, result: writing.into(current.result) }));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'What came of an answer could not be stored on the way');
  }
}

async function interrupted(job: Job, d: JobDependencies): Promise<'now'> {
  const failure = {
    code: 'interrupted',
    sentence: INTERRUPTED_SENTENCE,
    reference: d.newId(),
    taken: 'unknown' as const,
  };
  await mutate(d.storage, job.id, (current) =>
    current.state === 'submitting'
      ? { ...current, state: 'ready', end: 'failed', attempts: 0, failure }
      : current,
  );
  return 'now';
}
