/** Asks a language model and writes the answer into the channel as it comes. */
import type { Answer, AnswerEvent } from '../gateway/answers.ts';
import { GatewayError } from '../gateway/errors.ts';
import { PlatformError } from '../platforms/platform.ts';
import type { AnswerResult, Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import { failSubmission } from './failure.ts';
import { finalMessage } from './final-message.ts';
import type { Job } from './job.ts';
import { toQuestion } from './question.ts';
import { mutate } from './record.ts';
import { EMPTY_RESULT } from './result.ts';
import { ROUTES } from './routes.ts';
import { digestOf, progressMessage, showOptions } from './show.ts';

/** How often what has come so far is stored, so that a crash loses little of it. */
const KEEP_EVERY_MS = 3_000;
/** How often somebody's wish to stop is looked for, when it was made on another replica. */
const LOOK_EVERY_MS = 1_000;

type AnswerWork = Extract<Work, { route: 'answer' }>;

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
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  shutdown.addEventListener('abort', abort, { once: true });
  const platform = d.platform(job.address.platform);
  const stream = platform?.stream(job.address, showOptions(job, d));
  let answer: AnswerResult = { text: '' };
  let keptAt = d.now();
  let lookedAt = d.now();
  let stopped = false;

  const withAnswer = (current: Job): Job => ({
    ...current,
    result: { ...(current.result ?? EMPTY_RESULT), answer },
  });

  try {
    for await (const event of ask(work, stop.signal, d)) {
      if (event.type === 'finish') {
        answer = { ...answer, finish: event.finish, ...(event.usage ? { usage: event.usage } : {}) };
        continue;
      }
      if (event.part.type !== 'text') continue;
      answer = { ...answer, text: answer.text + event.part.text };
      stream?.update(progressMessage(withAnswer(job), ROUTES.answer.stage, d));
      if (d.now() - lookedAt < LOOK_EVERY_MS) continue;
      lookedAt = d.now();
      const keep = d.now() - keptAt >= KEEP_EVERY_MS;
      if (keep) keptAt = d.now();
      const current = keep ? await mutate(d.storage, job.id, withAnswer) : await d.storage.jobs.read(job.id);
      if (current?.cancelRequestedBy === undefined) continue;
      stopped = true;
      stop.abort();
      break;
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const current = await d.storage.jobs.read(job.id);
    stopped ||= current?.cancelRequestedBy !== undefined;
    if (answer.text === '' && !stopped && !shutdown.aborted) return failSubmission(job, error, d);
    d.log.warn({ job: job.id, err: error }, 'An answer did not reach its end');
    answer = { ...answer, finish: { reason: stopped ? 'stopped' : 'broken' } };
  } finally {
    shutdown.removeEventListener('abort', abort);
  }
  if (stopped) answer = { ...answer, finish: { reason: 'stopped' } };
  answer = { ...answer, finish: answer.finish ?? { reason: 'broken' } };

  const ready = await mutate(d.storage, job.id, (current) => ({
    ...withAnswer(current),
    state: 'ready',
    end: 'delivered',
    attempts: 0,
  }));
  if (ready && stream) {
    try {
      const { message } = await finalMessage(ready, shutdown, d);
      const posted = await stream.close(message);
      await mutate(d.storage, job.id, (current) => ({ ...current, posted, shown: digestOf(message) }));
    } catch (error) {
      // The delivery that follows writes the same message, and knows how to go on when the platform is away.
      if (!(error instanceof PlatformError)) throw error;
      d.log.warn({ job: job.id, err: error }, 'The end of an answer could not be written at once');
    }
  }
  return 'now';
}

/** The events of an answer, whatever the dialect; the messages dialect answers whole. */
async function* ask(
  work: AnswerWork,
  signal: AbortSignal,
  { gateway, media }: JobDependencies,
): AsyncIterable<AnswerEvent> {
  const question = await toQuestion(work.request, media);
  switch (work.dialect) {
    case 'chat':
      yield* gateway.chat.stream(question, { signal });
      return;
    case 'gen':
      yield* gateway.gen.stream(question, { signal });
      return;
    case 'msg':
      yield* whole(await gateway.msg.complete(question, { signal }));
      return;
    default:
      work.dialect satisfies never;
  }
}

function* whole({ parts, finish, usage }: Answer): Iterable<AnswerEvent> {
  for (const part of parts) yield { type: 'part', part };
  yield { type: 'finish', finish, ...(usage ? { usage } : {}) };
}
