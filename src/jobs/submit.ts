/** Sends one job's work to the gateway. Called at most once for each job that the gateway may have taken. */
import type { Gateway } from '../gateway/client.ts';
import type { Submission } from '../gateway/music-answers.ts';
import type { Media } from '../media/media.ts';
import type { KeptFile } from '../message.ts';
import type { ImageItem, Inquiry, Result, Work } from '../work.ts';
import { toQuestion } from './question.ts';
import { EMPTY_RESULT, fromMusic } from './result.ts';
import { karaoke, keepVoice } from './studio.ts';

/** A task to wait for, or the result itself where the gateway answers at once. */
export interface Submitted {
  readonly taskId?: string;
  readonly result?: Result;
}

export interface SubmitTools {
  readonly gateway: Gateway;
  readonly media: Pick<Media, 'keepBytes' | 'keepText' | 'open'>;
  readonly callBackUrl: string;
  /** A signed, expiring URL under which the gateway can read a kept file. */
  readonly fileUrl: (file: KeptFile, name: string) => string;
  readonly signal: AbortSignal;
}

/** Everything but answers, which stream. Throws GatewayError, whose `taken` says whether the work may have been accepted. */
export async function submit(
  work: Exclude<Work, { route: 'answer' }>,
  tools: SubmitTools,
): Promise<Submitted> {
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
    case 'music.uploadExtend':
      return submitted(await music.uploadExtend({ ...work.request, ...uploaded(work, tools) }, { signal }));
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
      const { images } = await media.createImage(work.request, { signal });
      const items = await Promise.all(images.map((url) => toImage(url, tools.media)));
      return { result: { ...EMPTY_RESULT, images: items } };
    }
    case 'gen.image':
      return { result: await illustrate(work.request, tools) };
    case 'media.video': {
      const { taskId } = await media.createVideo(
        {
          ...work.request,
          ...(work.image === undefined ? {} : { imageUrl: tools.fileUrl(work.image, 'image') }),
          ...(work.audio === undefined ? {} : { audioUrl: tools.fileUrl(work.audio, 'audio') }),
        },
        { signal },
      );
      return { taskId };
    }
    default:
      return work satisfies never;
  }
}

/** The file is signed for the moment in which it is handed over: the job may have waited. */
function uploaded({ audio }: { readonly audio: KeptFile }, { callBackUrl, fileUrl }: SubmitTools) {
  return { callBackUrl, uploadUrl: fileUrl(audio, 'audio') };
}

function submitted(submission: Submission): Submitted {
  return {
    ...(submission.taskId === undefined ? {} : { taskId: submission.taskId }),
    ...(submission.result === undefined ? {} : { result: fromMusic(submission.result) }),
  };
}

/** Bytes inside a `data:` URL are kept at once, so that the record stays small. */
async function toImage(url: string, media: SubmitTools['media']): Promise<ImageItem> {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  if (base64 === undefined) return { type: 'remote', url };
  return { type: 'kept', file: await media.keepBytes(Buffer.from(base64, 'base64'), { kinds: ['image'] }) };
}

/** A gen image model answers with text and pictures; the pictures come as bytes and are kept at once. */
async function illustrate(inquiry: Inquiry, { gateway, media, signal }: SubmitTools): Promise<Result> {
  const answer = await gateway.gen.generateImage(await toQuestion(inquiry, media), { signal });
  const images: ImageItem[] = [];
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
