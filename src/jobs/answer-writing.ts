/** An answer while it is written: its text, its pictures kept as files, the commands it used, and how it ended. */
import type { AnswerPart } from '../gateway/answers.ts';
import { MediaError } from '../media/errors.ts';
import type { KeptFile } from '../message.ts';
import type { AnswerResult, Result } from '../work.ts';
import type { AnswerStep } from './answer-step.ts';
import type { JobDependencies } from './dependencies.ts';
import { EMPTY_RESULT } from './result.ts';

/** Characters. What is longer is no answer any more, and would not fit into a record that is to stay small. */
const LONGEST_ANSWER = 200_000;
const MOST_PICTURES = 10;

export interface AnswerWriting {
  add(step: AnswerStep): Promise<void>;
  /** Nothing has come that people could see. */
  readonly empty: boolean;
  /** It went on past every bound. */
  readonly endless: boolean;
  readonly answer: AnswerResult;
  end(finish: NonNullable<AnswerResult['finish']>): void;
  /** The result with what was written so far. */
  into(result: Result | undefined): Result;
}

export function createAnswerWriting(
  job: string,
  { media, log }: Pick<JobDependencies, 'media' | 'log'>,
): AnswerWriting {
  let answer: AnswerResult = { text: '' };
  const pictures: KeptFile[] = [];

  async function keepPicture(data: string): Promise<string> {
    if (pictures.length >= MOST_PICTURES) return '(one more picture)';
    try {
      const { name, bytes, contentType } = await media.keepBytes(Buffer.from(data, 'base64'), {
        kinds: ['image'],
      });
      pictures.push({ name, bytes, contentType });
      return `*Picture ${pictures.length}*`;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      log.error({ job, err: error }, 'A picture of an answer could not be kept');
      return '*(A picture that I could not keep)*';
    }
  }

  async function addPart(part: AnswerPart): Promise<void> {
    switch (part.type) {
      case 'text':
        answer = { ...answer, text: answer.text + part.text };
        return;
      case 'image': {
        const mark = await keepPicture(part.data);
        const before = answer.text.trimEnd();
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
    async add(step) {
      switch (step.type) {
        case 'part':
          await addPart(step.part);
          return;
        case 'call':
          answer = { ...answer, calls: [...(answer.calls ?? []), step.call] };
          return;
        case 'finish': {
          const { finish, usage } = step;
          answer = { ...answer, finish, ...(usage ? { usage } : {}) };
          return;
        }
        default:
          step satisfies never;
      }
    },
    get empty() {
      return answer.text.trim() === '' && pictures.length === 0 && (answer.calls ?? []).length === 0;
    },
    get endless() {
      return answer.text.length > LONGEST_ANSWER;
    },
    get answer() {
      return answer;
    },
    end(finish) {
      answer = { ...answer, finish };
    },
    into: (result) => ({
      ...(result ?? EMPTY_RESULT),
      ...(pictures.length === 0 ? {} : { images: pictures.map((file) => ({ type: 'kept' as const, file })) }),
      answer,
    }),
  };
}
