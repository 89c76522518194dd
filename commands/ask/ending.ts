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
      return 'The answer was cut off here. Press Again for a complete one.';
    case 'endless':
      return 'The answer became too long, so I stopped it here. Press Again, or ask for a shorter answer.';
    case 'rounds':
      return 'The model kept calling commands, so I stopped it here. Press Again, or rephrase your question.';
    case 'length':
      return 'The answer reached the length limit. Ask me to continue.';
    case 'blocked':
      return `The content filter stopped the answer here${detailText(finish.detail)}. Rephrase your question.`;
    case 'refused':
      return 'The model declined to continue. Rephrase your question, or choose another model.';
    case 'tool-calls':
      return "The model tried to use functions that aren't available here. Press Again, or choose another model.";
    case 'other':
      return finish.detail === undefined
        ? ''
        : `The model stopped early${detailText(finish.detail)}. Press Again to retry.`;
    default:
      return finish satisfies never;
  }
}

/** Footer texts about parts of the question that were left out, plain. */
export function omissionNotes({ leftOut: { characters, images } = {} }: AnswerResult): string[] {
  return [
    ...(characters
      ? [
          `Your question was too long for the model, so its last ${amount(characters)} characters were left out`,
        ]
      : []),
    ...(images
      ? [`The model couldn't read these images, so I asked without them: ${images.join(', ')}`]
      : []),
  ];
}

/** Markdown shown in place of an empty answer. */
export function emptyAnswer(
  { finish, calls = [] }: AnswerResult,
  { request }: Pick<AnswerWork, 'request'>,
): string {
  switch (finish?.reason) {
    case 'stopped':
      return 'Stopped before the first word. Press Again to start over.';
    case 'broken':
      return 'The answer was cut off before the first word. Press Again to retry.';
    case 'length': {
      const limit =
        request.maxTokens === undefined ? 'its length limit' : `its limit of ${request.maxTokens} tokens`;
      return `The model reached ${limit} before it wrote anything. Try another model.`;
    }
    case 'blocked':
      return `The content filter blocked this${plain(detailText(finish.detail))}. Rephrase your question.`;
    case 'refused':
      return 'The model declined to answer this. Rephrase your question, or choose another model.';
    case 'tool-calls':
      return 'The model tried to use functions, but none are available here. Press Again, or choose another model.';
    case 'rounds':
      return 'The model only called commands and wrote no answer, so I stopped it. Press Again, or choose another model.';
    case undefined:
    case 'stop':
    case 'other':
    case 'endless':
      // Many models write nothing after a call, and the message lists the started commands.
      if (calls.some(({ outcome }) => outcome !== 'refused')) return '';
      return `The model gave no answer${finish?.reason === 'other' ? plain(detailText(finish.detail)) : ''}. Press Again, or rephrase your question.`;
    default:
      return finish satisfies never;
  }
}

/** The gateway's reason in parentheses, such as `PROHIBITED_CONTENT`, as plain text. */
function detailText(detail: string | undefined): string {
  if (detail === undefined || detail === 'content_filter') return '';
  return ` (${detail.slice(0, 60).toLowerCase().replace(/_+/g, ' ')})`;
}
