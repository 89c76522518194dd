/** Texts about how an answer ended. */
import { plain } from '../../src/core/message.ts';
import { amount } from '../../src/core/util/words.ts';
import type { AnswerResult, AnswerWork } from '../../src/core/work.ts';

/** Footer text of an incomplete answer, plain; empty if the answer is complete. */
export function endingNote({ finish }: AnswerResult): string {
  switch (finish?.reason) {
    case undefined:
    case 'stop':
      return '';
    case 'stopped':
      return 'Stopped';
    case 'broken':
      return 'The answer broke off here; press Again for a complete one';
    case 'endless':
      return "The answer didn't end, so I stopped it here";
    case 'rounds':
      return 'The model kept calling commands, so I stopped it here';
    case 'length':
      return 'The answer reached the length limit';
    case 'blocked':
      return `The content filter stopped the answer here${because(finish.detail)}`;
    case 'refused':
      return 'The model declined to continue';
    case 'tool-calls':
      return "The model tried to call functions that aren't available here";
    case 'other':
      return finish.detail === undefined ? '' : `The model stopped early${because(finish.detail)}`;
    default:
      return finish satisfies never;
  }
}

/** Footer texts about parts of the question that were left out, plain. */
export function leftOutNotes({ leftOut: { characters, images } = {} }: AnswerResult): string[] {
  return [
    ...(characters
      ? [`Too long for the model: the last ${amount(characters)} characters were left out`]
      : []),
    ...(images ? [`Left out, because the model rejected the question with it: ${images.join(', ')}`] : []),
  ];
}

/** Markdown shown in place of an empty answer. */
export function emptyAnswer(
  { finish, calls = [] }: AnswerResult,
  { request, dialect }: Pick<AnswerWork, 'request' | 'dialect'>,
): string {
  switch (finish?.reason) {
    case 'stopped':
      return 'Stopped before the first word.';
    case 'broken':
      return 'The answer broke off before the first word. Press Again to retry.';
    case 'length': {
      const limit = request.maxTokens === undefined ? 'its length limit' : `its ${request.maxTokens} tokens`;
      return `The model used up ${limit} before it wrote anything. Try another model.`;
    }
    case 'blocked':
      return `The content filter blocked this${plain(because(finish.detail))}. Please rephrase it.`;
    case 'refused':
      return 'The model declined to answer this. Rephrase it or choose another model.';
    case 'tool-calls':
      return `The model tried to call functions, but the ${dialect} route has none. Ask for a plain answer or choose another model.`;
    case 'rounds':
      return 'The model only called commands and wrote no answer, so I stopped it.';
    case undefined:
    case 'stop':
    case 'other':
    case 'endless':
      // Many models say nothing more after a call, and the message lists what was started.
      if (calls.some(({ outcome }) => outcome !== 'refused')) return '';
      return `The model gave no answer${finish?.reason === 'other' ? plain(because(finish.detail)) : ''}. Press Again, or rephrase your question.`;
    default:
      return finish satisfies never;
  }
}

/** The gateway's reason in parentheses, such as `PROHIBITED_CONTENT`, as plain text. */
function because(detail: string | undefined): string {
  if (detail === undefined || detail === 'content_filter') return '';
  return ` (${detail.slice(0, 60).toLowerCase().replace(/_+/g, ' ')})`;
}
