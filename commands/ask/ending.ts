/** How an answer ended, told in a sentence. */
import { plain } from '../../src/core/message.ts';
import type { AnswerResult, AnswerWork } from '../../src/core/work.ts';

/** Plain small print under an answer that has words; nothing when it is whole. */
export function endingNote({ finish }: AnswerResult): string {
  switch (finish?.reason) {
    case undefined:
    case 'stop':
      return '';
    case 'stopped':
      return 'Stopped';
    case 'broken':
      return 'The answer broke off here; press Again for a whole one';
    case 'endless':
      return 'The answer went on without end, so I stopped it here';
    case 'rounds':
      return 'The model went on asking for commands, so I stopped it here';
    case 'length':
      return 'The answer reached the length limit';
    case 'blocked':
      return `The content filter stopped the answer here${because(finish.detail)}`;
    case 'refused':
      return 'The model declined to say more';
    case 'tool-calls':
      return 'The model wanted to use functions that it does not have here';
    case 'other':
      return finish.detail === undefined ? '' : `The model ended early${because(finish.detail)}`;
    default:
      return finish satisfies never;
  }
}

/** Markdown instead of an answer without words. */
export function emptyAnswer({ finish }: AnswerResult, { request, dialect }: AnswerWork): string {
  switch (finish?.reason) {
    case 'stopped':
      return 'Stopped before the first word.';
    case 'broken':
      return 'The answer broke off before its first word. Press Again to retry.';
    case 'length': {
      const bound = request.maxTokens === undefined ? 'its length limit' : `its ${request.maxTokens} tokens`;
      return `The model used up ${bound} before it said a word. Another model may do better.`;
    }
    case 'blocked':
      return `The content filter did not let this through${plain(because(finish.detail))}. Please put it another way.`;
    case 'refused':
      return 'The model declined to answer this. Please put it another way, or choose another model.';
    case 'tool-calls':
      return `The model wanted to use functions, which it does not have on the ${dialect} route. Please ask for a plain answer, or choose another model.`;
    case 'rounds':
      return 'The model only asked for commands and said nothing, so I stopped it.';
    case undefined:
    case 'stop':
    case 'other':
    case 'endless':
      return `The model had nothing to say${finish?.reason === 'other' ? plain(because(finish.detail)) : ''}. Press Again, or put it another way.`;
    default:
      return finish satisfies never;
  }
}

/** The gateway's own word for it, such as `PROHIBITED_CONTENT`. Plain. */
function because(detail: string | undefined): string {
  if (detail === undefined || detail === 'content_filter') return '';
  return ` (${detail.slice(0, 60).toLowerCase().replace(/_+/g, ' ')})`;
}
