/** Asks the gateway for a job's work, once, and knows what to make of a process that died while it asked. */
import { isNamed } from '../../core/attachments.ts';
import { EMPTY_RESULT, type JobFailure } from '../../core/job.ts';
import type { KeptFile, MediaSource } from '../../core/message.ts';
import { lastMoment } from '../../core/song.ts';
import type { Inquiry, Recording, Result, Work, WorkFile } from '../../core/work.ts';
import type { Submission } from '../../gateway/music/client.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { MediaError } from '../../media/errors.ts';
import { answerQuestion } from '../ask/answer.ts';
import { toQuestion } from '../ask/question.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { INTERRUPTED_SENTENCE, UNCERTAIN_SENTENCE, unkeptSentence } from '../sentences.ts';
import { fromMusic } from '../transitions.ts';
import { failSubmission, waitForCallback } from './failure.ts';
import { linesOf, lrc } from './lrc.ts';
import { showCancelled } from './message.ts';

/** Of pictures whose person named no size: every model of the route takes it. */
const IMAGE_SIZE = '1328*1328';
/** How often a request to cancel is checked for while the gateway is being asked. */
const CHECK_EVERY_MS = 1_000;

/** Sends a job in state `submitting`. */
export async function sendWork(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  const { id, work } = run.job;
  if (work.route === 'answer') return answerQuestion(run, work, signal, deps);
  const { comesBack, deadlineMs } = PLANS[work.route];
  const answered = new AbortController();
  const watching = tellWhenCancelled(run, answered.signal, signal, deps);
  try {
    // A shutdown does not end the request: the answer may be nearly here, and without it we would not know whether the work was taken.
    const submitted = await submit(work, {
      gateway: deps.gateway,
      media: deps.media,
      callBackUrl: deps.callbackUrl(id),
      fileUrl: deps.fileUrl,
      signal: AbortSignal.timeout(deadlineMs),
    }).finally(async () => {
      answered.abort();
      await watching;
    });
    const deadline = comesBack === 'direct' ? {} : { deadlineAt: deps.now() + deadlineMs };
    run.apply({ type: 'submitted', ...submitted, ...deadline, at: deps.now() });
    return 'now';
  } catch (error) {
    if (error instanceof GatewayError) return failSubmission(run, error, deps);
    if (!(error instanceof MediaError)) throw error;
    // The bytes of the answer are lost, so the person is told. They are made again only if somebody asks.
    const reference = deps.newId();
    deps.log.error({ job: id, reference, err: error }, 'What the gateway made could not be kept');
    fail(run, { code: error.code, sentence: unkeptSentence(error), reference });
    return 'now';
  }
}

/** People who cancel are told at once; whether it counts is known when the gateway has answered. Never rejects. */
async function tellWhenCancelled(
  run: JobRun,
  answered: AbortSignal,
  shutdown: AbortSignal,
  deps: JobDependencies,
): Promise<void> {
  const { id } = run.job;
  try {
    for (;;) {
      await deps.sleep(CHECK_EVERY_MS, answered);
      if (answered.aborted) return;
      const stored = await deps.storage.jobs.read(id);
      if (stored?.state !== 'submitting') return;
      if (stored.cancelRequestedBy === undefined) continue;
      run.apply({ type: 'cancelRequested', by: stored.cancelRequestedBy });
      run.apply({ type: 'cancelled' });
      await showCancelled(run, shutdown, deps);
      await run.save();
      return;
    }
  } catch (error) {
    deps.log.warn({ job: id, err: error }, 'Cancelling waits for the gateway’s answer');
  }
}

/** A job is found in `submitting` only when the process that sent it died: it is unknown whether the gateway took it. */
export function recover(run: JobRun, deps: JobDependencies): Next {
  const { id, work, result } = run.job;
  const reference = deps.newId();
  deps.log.warn({ job: id, reference }, 'Found a submission that was interrupted');
  const { comesBack } = PLANS[work.route];
  switch (comesBack) {
    case 'callback':
      waitForCallback(run, deps);
      return 'now';
    case 'poll':
    case 'direct':
      fail(run, { code: 'interrupted', sentence: UNCERTAIN_SENTENCE, reference });
      return 'now';
    case 'stream': {
      const answer = result?.answer;
      if (answer?.text || answer?.calls) {
        const broken = { ...answer, finish: { reason: 'broken' as const } };
        const whole = { ...(result ?? EMPTY_RESULT), answer: broken };
        run.apply({ type: 'completed', result: whole, at: deps.now() });
      } else {
        fail(run, { code: 'interrupted', sentence: INTERRUPTED_SENTENCE, reference });
      }
      return 'now';
    }
    default:
      return comesBack satisfies never;
  }
}

function fail(run: JobRun, failure: Omit<JobFailure, 'taken'>): void {
  run.apply({ type: 'failed', failure: { ...failure, taken: 'unknown' } });
}

/** A task to wait for, or the result itself where the gateway answers at once. */
export interface Submitted {
  readonly taskId?: string;
  readonly result?: Result;
}

export interface SubmitTools extends Pick<JobDependencies, 'gateway' | 'media' | 'fileUrl'> {
  readonly callBackUrl: string;
  readonly signal: AbortSignal;
}

/** Everything but answers, which stream. Throws GatewayError, whose `taken` says whether the work may have been accepted. */
async function submit(work: Exclude<Work, { route: 'answer' }>, tools: SubmitTools): Promise<Submitted> {
  const { callBackUrl, signal } = tools;
  const { music, media } = tools.gateway;
  switch (work.route) {
    case 'music.generate':
      return submitted(await music.generate({ ...work.request, callBackUrl }, { signal }));
    case 'music.extend':
      return submitted(await music.extend({ ...work.request, callBackUrl }, { signal }));
    case 'music.generateLyrics':
      return submitted(await music.generateLyrics({ ...work.request, callBackUrl }, { signal }));
    case 'music.generateCover':
      return submitted(await music.generateCover({ ...work.request, callBackUrl }, { signal }));
    case 'music.uploadCover':
      return submitted(await music.uploadCover({ ...work.request, ...uploaded(work, tools) }, { signal }));
    case 'music.uploadExtend': {
      const { request } = work;
      const files = uploaded(work, tools);
      const sent = request.defaultParamFlag
        ? { ...request, continueAt: lastMoment(keptOf(work.audio).seconds) }
        : request;
      return submitted(await music.uploadExtend({ ...sent, ...files }, { signal }));
    }
    case 'music.addVocals':
      return submitted(await music.addVocals({ ...work.request, ...uploaded(work, tools) }, { signal }));
    case 'music.addInstrumental':
      return submitted(
        await music.addInstrumental({ ...work.request, ...uploaded(work, tools) }, { signal }),
      );
    case 'music.vocalRemoval':
      return submitted(await music.vocalRemoval({ ...work.request, callBackUrl }, { signal }));
    case 'music.wavGenerate':
      return submitted(await music.wavGenerate({ ...work.request, callBackUrl }, { signal }));
    case 'music.mp4Generate':
      return submitted(await music.mp4Generate({ ...work.request, callBackUrl }, { signal }));
    case 'music.timestampedLyrics':
      return { result: await karaoke(work, tools) };
    case 'music.generatePersona':
      return { result: await keepVoice(work, tools) };
    case 'media.image': {
      const { images } = await media.createImage({ size: IMAGE_SIZE, ...work.request }, { signal });
      return { result: { ...EMPTY_RESULT, images: images.map((url) => ({ type: 'remote', url })) } };
    }
    case 'gen.image':
      return { result: await illustrate(work.request, tools) };
    case 'media.video': {
      const { taskId } = await media.createVideo(
        {
          ...work.request,
          ...(work.image === undefined ? {} : { imageUrl: tools.fileUrl(keptOf(work.image), 'image') }),
          ...(work.audio === undefined ? {} : { audioUrl: tools.fileUrl(keptOf(work.audio), 'audio') }),
        },
        { signal },
      );
      return { taskId };
    }
    default:
      return work satisfies never;
  }
}

/** The file is signed only now: the job may have waited, and a signature expires. */
function uploaded({ audio }: { readonly audio: Recording }, { callBackUrl, fileUrl }: SubmitTools) {
  return { callBackUrl, uploadUrl: fileUrl(keptOf(audio), 'audio') };
}

function keptOf<File extends WorkFile>(file: File): Extract<File, KeptFile> {
  if (isNamed(file)) throw new TypeError('A file was not fetched before it was sent');
  // Sound: what is not named is kept.
  return file as Extract<File, KeptFile>;
}

function submitted(submission: Submission): Submitted {
  return {
    ...(submission.taskId === undefined ? {} : { taskId: submission.taskId }),
    ...(submission.result === undefined ? {} : { result: fromMusic(submission.result) }),
  };
}

/** A gen image model answers with text and pictures; the pictures come as bytes and are kept at once. */
async function illustrate(inquiry: Inquiry, { gateway, media, signal }: SubmitTools): Promise<Result> {
  const answer = await gateway.gen.generateImage(await toQuestion(inquiry, media), { signal });
  const images: MediaSource[] = [];
  const texts: string[] = [];
  for (const part of answer.parts) {
    if (part.type === 'text') texts.push(part.text);
    if (part.type !== 'image') continue;
    const file = await media.keepBytes(Buffer.from(part.data, 'base64'), { kinds: ['image'] });
    images.push({ type: 'kept', file });
  }
  return {
    ...EMPTY_RESULT,
    images,
    answer: { text: texts.join(''), finish: answer.finish, ...(answer.usage ? { usage: answer.usage } : {}) },
  };
}

/** Throws GatewayError and MediaError. A song without singing is a result, too. */
async function karaoke(
  { request, song }: Extract<Work, { route: 'music.timestampedLyrics' }>,
  { gateway, media, signal }: SubmitTools,
): Promise<Result> {
  const lines = linesOf(await gateway.music.timestampedLyrics(request, { signal }));
  if (lines.length === 0) return { ...EMPTY_RESULT, karaoke: { lines } };
  return { ...EMPTY_RESULT, karaoke: { lines, file: await media.keepText(lrc(lines, song), 'lrc') } };
}

/** Throws GatewayError. An audio that has given its voice already is no failure: it is explained. */
async function keepVoice(
  { request }: Extract<Work, { route: 'music.generatePersona' }>,
  { gateway, signal }: SubmitTools,
): Promise<Result> {
  try {
    const { personaId } = await gateway.music.generatePersona(request, { signal });
    return { ...EMPTY_RESULT, voice: { outcome: 'kept', personaId } };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'exists') throw error;
    return { ...EMPTY_RESULT, voice: { outcome: 'kept-before' } };
  }
}
