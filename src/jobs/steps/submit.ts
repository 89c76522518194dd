/** Sends the paid request of each kind of work, except answers, which are streamed. */

import { isNamed } from '../../core/attachments.ts';
import { EMPTY_RESULT, type Job } from '../../core/job.ts';
import type { MediaFile, MediaSource } from '../../core/message.ts';
import { lastMoment } from '../../core/music/song.ts';
import { present } from '../../core/util/present.ts';
import type { Inquiry, Recording, Result, Work, WorkFile } from '../../core/work.ts';
import { imageInDataUrl } from '../../gateway/images.ts';
import type { Submission } from '../../gateway/music/client.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { toQuestion } from '../ask/question.ts';
import type { JobDependencies } from '../dependencies.ts';
import { fromMusic } from '../transitions.ts';
import { keepImage } from './keep.ts';
import { linesOf, lrc } from './lrc.ts';

/** A task to wait for, or the result if the gateway returns it immediately. */
export interface Submitted {
  readonly taskId?: string;
  readonly result?: Result;
}

type ImageWork = Extract<Work, { route: 'gen.image' }>;

export type PaidWork = Exclude<Work, { route: 'answer' }>;

/** Throws GatewayError (`taken` tells whether the work may have been accepted), and MediaError if the result cannot be stored. */
export type Submit = (job: Job, work: PaidWork, signal: AbortSignal) => Promise<Submitted>;

export function createSubmit({
  gateway,
  media,
  callbackUrl,
  fileUrl,
}: Pick<JobDependencies, 'gateway' | 'media' | 'callbackUrl' | 'fileUrl'>): Submit {
  /** Gen image models return text and images. The images arrive as bytes and are stored immediately. */
  async function illustrate(job: Job, work: ImageWork, signal: AbortSignal): Promise<Result> {
    const question = await toQuestion(withReferences(work), media);
    const sent = question.turns.flatMap(({ parts }) => parts).filter(({ type }) => type === 'image');
    // The file was there a moment ago, so the next try reads it or reports its loss.
    if (sent.length < (work.images?.length ?? 0))
      throw new GatewayError({
        code: 'unread',
        route: 'gen/image',
        taken: 'no',
        retryable: true,
        explanation: 'a reference image could not be read',
      });
    const answer = await gateway.gen.generateImage(question, { signal });
    const images: MediaSource[] = [];
    const texts: string[] = [];
    for (const part of answer.parts) {
      if (part.type === 'text') texts.push(part.text);
      if (part.type !== 'image') continue;
      images.push({ type: 'stored', file: await keepImage(part.data, job, media) });
    }
    const { finish, usage } = answer;
    return { ...EMPTY_RESULT, images, answer: { text: texts.join(''), finish, ...(usage ? { usage } : {}) } };
  }

  /** The bytes of a data URL are stored immediately. */
  async function toSource(url: string, job: Job): Promise<MediaSource> {
    const image = imageInDataUrl(url);
    if (image === undefined) return { type: 'remote', url };
    return { type: 'stored', file: await keepImage(image.data, job, media) };
  }

  /** An instrumental is a valid result without lines. */
  async function karaoke(
    { request, song }: Extract<Work, { route: 'music.timestampedLyrics' }>,
    signal: AbortSignal,
  ): Promise<Result> {
    const lines = linesOf(await gateway.music.timestampedLyrics(request, { signal }));
    if (lines.length === 0) return { ...EMPTY_RESULT, karaoke: { lines } };
    return { ...EMPTY_RESULT, karaoke: { lines, file: await media.keepText(lrc(lines, song), 'lrc') } };
  }

  /** An audio whose voice is already saved is not a failure; the message explains it. */
  async function keepVoice(
    { request }: Extract<Work, { route: 'music.generatePersona' }>,
    signal: AbortSignal,
  ): Promise<Result> {
    try {
      const { personaId } = await gateway.music.generatePersona(request, { signal });
      return { ...EMPTY_RESULT, voice: { outcome: 'saved', personaId } };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'exists') throw error;
      return { ...EMPTY_RESULT, voice: { outcome: 'already-saved' } };
    }
  }

  return async (job, work, signal) => {
    const { music } = gateway;
    const callBackUrl = callbackUrl(job.id);
    // Signed here because signatures expire while a job waits.
    const withUpload = ({ audio }: { readonly audio: Recording }) => ({
      callBackUrl,
      uploadUrl: fileUrl(storedFile(audio), 'audio'),
    });
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
        return submitted(await music.uploadCover({ ...work.request, ...withUpload(work) }, { signal }));
      case 'music.uploadExtend': {
        const { request } = work;
        const extended = request.defaultParamFlag
          ? { ...request, continueAt: lastMoment(storedFile(work.audio).seconds) }
          : request;
        return submitted(await music.uploadExtend({ ...extended, ...withUpload(work) }, { signal }));
      }
      case 'music.addVocals':
        return submitted(await music.addVocals({ ...work.request, ...withUpload(work) }, { signal }));
      case 'music.addInstrumental':
        return submitted(await music.addInstrumental({ ...work.request, ...withUpload(work) }, { signal }));
      case 'music.vocalRemoval':
        return submitted(await music.vocalRemoval({ ...work.request, callBackUrl }, { signal }));
      case 'music.wavGenerate':
        return submitted(await music.wavGenerate({ ...work.request, callBackUrl }, { signal }));
      case 'music.mp4Generate':
        return submitted(await music.mp4Generate({ ...work.request, callBackUrl }, { signal }));
      case 'music.timestampedLyrics':
        return { result: await karaoke(work, signal) };
      case 'music.generatePersona':
        return { result: await keepVoice(work, signal) };
      case 'media.image': {
        const { images } = await gateway.media.createImage(work.request, { signal });
        return {
          result: { ...EMPTY_RESULT, images: await Promise.all(images.map((url) => toSource(url, job))) },
        };
      }
      case 'gen.image':
        return { result: await illustrate(job, work, signal) };
      case 'media.video': {
        const { taskId } = await gateway.media.createVideo(
          {
            ...work.request,
            ...(work.image === undefined ? {} : { imageUrl: fileUrl(storedFile(work.image), 'image') }),
            ...(work.audio === undefined ? {} : { audioUrl: fileUrl(storedFile(work.audio), 'audio') }),
          },
          { signal },
        );
        return { taskId };
      }
      default:
        return work satisfies never;
    }
  };
}

/** The question with the reference images before its text. */
function withReferences({ request, images = [] }: ImageWork): Inquiry {
  const references = images.map((image) => ({ type: 'image' as const, file: storedFile(image) }));
  const turns = request.turns.map((turn, index) =>
    index === request.turns.length - 1 ? { ...turn, parts: [...references, ...turn.parts] } : turn,
  );
  return { ...request, turns };
}

function storedFile<File extends WorkFile>(file: File): Extract<File, MediaFile> {
  if (isNamed(file)) throw new TypeError('A file must be fetched before it is sent');
  // Sound because files are either named or stored.
  return file as Extract<File, MediaFile>;
}

function submitted(submission: Submission): Submitted {
  return {
    ...present({ taskId: submission.taskId }),
    ...(submission.result === undefined ? {} : { result: fromMusic(submission.result) }),
  };
}
