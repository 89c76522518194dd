/** An answer while it is written: its text, its pictures kept as files, the commands it used, and how it ended. */

import { EMPTY_RESULT } from '../../core/job.ts';
import type { KeptFile } from '../../core/message.ts';
import type { AnswerResult, CommandCall, LeftOut, OwnFinish, Result } from '../../core/work.ts';
import type { AnswerPart, Finish, Usage } from '../../gateway/answers.ts';
import { MediaError } from '../../media/errors.ts';
import type { JobDependencies } from '../dependencies.ts';

/** What an answer is made of, in order, however it is asked for. `finish` comes once, last. */
export type DraftEvent =
  | { readonly type: 'part'; readonly part: AnswerPart }
  | { readonly type: 'call'; readonly call: CommandCall }
  | { readonly type: 'leftOut'; readonly leftOut: LeftOut }
  | {
      readonly type: 'finish';
      readonly finish: Finish | { readonly reason: OwnFinish };
      readonly usage?: Usage | undefined;
    };

/** In characters. A longer text is not an answer any more, and records have to stay small. */
const LONGEST_ANSWER = 200_000;
const MOST_PICTURES = 10;

export type AnswerDraft = ReturnType<typeof createAnswerDraft>;

export function createAnswerDraft(job: string, { media, log }: Pick<JobDependencies, 'media' | 'log'>) {
  let answer: AnswerResult = { text: '' };
  /** Remembered, because reading a growing text each time would copy all of it. */
  let hasWords = false;
  const pictures: KeptFile[] = [];

  async function keepPicture(data: string): Promise<string> {
    if (pictures.length >= MOST_PICTURES) return '(one more image)';
    try {
      pictures.push(await media.keepBytes(Buffer.from(data, 'base64'), { kinds: ['image'] }));
      return `*Picture ${pictures.length}*`;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      log.error({ job, err: error }, 'Could not store an image of an answer');
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
    /** Nothing has come that people could see. */
    get empty(): boolean {
      return !hasWords && (answer.calls ?? []).length === 0;
    },
    /** It went on past every bound. */
    get endless(): boolean {
      return answer.text.length > LONGEST_ANSWER;
    },
    get answer(): AnswerResult {
      return answer;
    },
    end(finish: NonNullable<AnswerResult['finish']>): void {
      answer = { ...answer, finish };
    },
    /** The result with what was written so far. */
    into: (result: Result | undefined): Result => ({
      ...(result ?? EMPTY_RESULT),
      ...(pictures.length === 0 ? {} : { images: pictures.map((file) => ({ type: 'kept' as const, file })) }),
      answer,
    }),
  };
}
