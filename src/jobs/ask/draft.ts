/** An answer while it is written: its text, its images as stored files, its command calls, and its end. */

import { EMPTY_RESULT, type Job } from '../../core/job.ts';
import type { MediaFile } from '../../core/message.ts';
import type { AnswerResult, CommandCall, Omissions, OwnFinish, Result } from '../../core/work.ts';
import type { AnswerPart, Finish, Usage } from '../../gateway/answers.ts';
import { MediaError } from '../../media/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { keepImage } from '../steps/keep.ts';

/** An event of an answer, in any dialect. `finish` is the last one. */
export type DraftEvent =
  | { readonly type: 'part'; readonly part: AnswerPart }
  | { readonly type: 'call'; readonly call: CommandCall }
  | { readonly type: 'leftOut'; readonly leftOut: Omissions }
  | {
      readonly type: 'finish';
      readonly finish: Finish | { readonly reason: OwnFinish };
      readonly usage?: Usage | undefined;
    };

/** Limit of characters, to keep records small. A longer answer is runaway output. */
const LONGEST_ANSWER = 200_000;
const MOST_PICTURES = 10;

export type AnswerDraft = ReturnType<typeof createAnswerDraft>;

export function createAnswerDraft(job: Job, { media, log }: Pick<JobDependencies, 'media' | 'log'>) {
  let answer: AnswerResult = { text: '' };
  /** Cached, because trimming the growing text each time would copy it. */
  let hasWords = false;
  const pictures: MediaFile[] = [];

  async function keepPicture(data: string): Promise<string> {
    if (pictures.length >= MOST_PICTURES) return '(and one more image)';
    try {
      pictures.push(await keepImage(data, job, media));
      return `*Image ${pictures.length}*`;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      log.error({ job: job.id, err: error }, 'Could not store an image of an answer');
      return "*(An image that I couldn't store)*";
    }
  }

  async function addPart(part: AnswerPart): Promise<void> {
    switch (part.type) {
      case 'text':
        hasWords ||= part.text.trim() !== '';
        answer = { ...answer, text: answer.text + part.text };
        return;
      case 'image': {
        const mark = await keepPicture(part.data);
        const before = answer.text.trimEnd();
        hasWords = true;
        answer = { ...answer, text: `${before}${before === '' ? '' : '\n\n'}${mark}\n\n` };
        return;
      }
      case 'thought':
      case 'tool-call':
        return;
      default:
        part satisfies never;
    }
  }

  return {
    async add(event: DraftEvent): Promise<void> {
      switch (event.type) {
        case 'part':
          await addPart(event.part);
          return;
        case 'call':
          answer = { ...answer, calls: [...(answer.calls ?? []), event.call] };
          return;
        case 'leftOut':
          answer = { ...answer, leftOut: { ...answer.leftOut, ...event.leftOut } };
          return;
        case 'finish': {
          const { finish, usage } = event;
          answer = { ...answer, finish, ...(usage ? { usage } : {}) };
          return;
        }
        default:
          event satisfies never;
      }
    },
    /** True if nothing visible has arrived yet. */
    get empty(): boolean {
      return !hasWords && (answer.calls ?? []).length === 0;
    },
    /** True if the text exceeds the limit. */
    get endless(): boolean {
      return answer.text.length > LONGEST_ANSWER;
    },
    get answer(): AnswerResult {
      return answer;
    },
    end(finish: NonNullable<AnswerResult['finish']>): void {
      answer = { ...answer, finish };
    },
    /** Returns the result with the current draft. */
    into: (result: Result | undefined): Result => ({
      ...(result ?? EMPTY_RESULT),
      ...(pictures.length === 0
        ? {}
        : { images: pictures.map((file) => ({ type: 'stored' as const, file })) }),
      answer,
    }),
  };
}
