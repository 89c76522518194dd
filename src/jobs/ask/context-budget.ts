/** Cuts conversations to a token budget. The system prompt and the newest turn are always sent, the rest as far as it fits. */
import { attachmentNote } from '../../core/attachments.ts';
import { beginning } from '../../core/util/words.ts';
import type { Inquiry, InquiryPart, InquiryTurn } from '../../core/work.ts';

/** A high estimate: public tokenisers count one token per three to five English letters, and one per most other characters. */
const LETTERS_A_TOKEN = 3;
/** Upper bound of what public models count for a scaled image. */
const PICTURE_TOKENS = 1_600;
/** Limit for reading documents; see question.ts. */
export const MOST_DOCUMENT_BYTES = 48_000;
/** Overhead of a turn: role and separators. */
const TURN_TOKENS = 5;
/** Minimum of characters that remain of a question. */
const SHORTEST_QUESTION = 1_000;

/** Estimates the input tokens, never below the count of public tokenisers. */
export function estimateTokens({ system = '', turns }: Pick<Inquiry, 'system' | 'turns'>): number {
  return textTokens(system) + turns.reduce((sum, turn) => sum + turnTokens(turn), 0);
}

function turnTokens({ parts }: InquiryTurn): number {
  return parts.reduce((sum, part) => sum + partTokens(part), TURN_TOKENS);
}

function partTokens(part: InquiryPart): number {
  switch (part.type) {
    case 'text':
      return textTokens(part.text);
    case 'image':
      return PICTURE_TOKENS;
    case 'document':
      return Math.ceil(Math.min(part.file.bytes, MOST_DOCUMENT_BYTES) / LETTERS_A_TOKEN);
    case 'file':
      return textTokens(part.file.name);
    default:
      return part satisfies never;
  }
}

function textTokens(text: string): number {
  const plain = text.replace(/[^ -~\n]/g, '').length;
  return Math.ceil(plain / LETTERS_A_TOKEN + (text.length - plain));
}

/** Drops attachments of earlier turns, then earlier turns, oldest first, until the estimate fits. */
export function cutToFit(inquiry: Inquiry, tokens: number): Inquiry {
  const newest = inquiry.turns.length - 1;
  let turns = inquiry.turns;
  let size = estimateTokens(inquiry);
  for (let index = 0; index < newest && size > tokens; index += 1) {
    const turn = turns[index];
    if (!turn || turn.parts.every(({ type }) => type === 'text')) continue;
    const plainer = {
      ...turn,
      parts: turn.parts.map((part) => (part.type === 'text' ? part : attachmentNote(part))),
    };
    size -= turnTokens(turn) - turnTokens(plainer);
    turns = turns.with(index, plainer);
  }
  let first = 0;
  for (; first < newest && size > tokens; first += 1) {
    const turn = turns[first];
    size -= turn ? turnTokens(turn) : 0;
  }
  return { ...inquiry, turns: turns.slice(first) };
}

/**
 * Cuts off the end of the question until the estimate fits. The rest of the conversation must be cut before. Also returns the number of
 * characters cut off.
 */
export function cutQuestion(
  inquiry: Inquiry,
  tokens: number,
): { readonly inquiry: Inquiry; readonly characters: number } {
  const excess = estimateTokens(inquiry) - tokens;
  const question = inquiry.turns.at(-1);
  const index = question?.parts.findLastIndex(({ type }) => type === 'text') ?? -1;
  const part = question?.parts[index];
  if (excess <= 0 || question === undefined || part?.type !== 'text') return { inquiry, characters: 0 };
  const share = Math.max(0, 1 - excess / textTokens(part.text));
  const text = beginning(part.text, Math.max(SHORTEST_QUESTION, Math.floor(part.text.length * share)));
  const parts = question.parts.with(index, { ...part, text: `${text} …` });
  return {
    inquiry: { ...inquiry, turns: inquiry.turns.with(-1, { ...question, parts }) },
    characters: part.text.length - text.length,
  };
}

/** Drops about half of the earlier turns, for a model that rejected them as too long. Undefined if no turns are left to drop. */
export function halve(inquiry: Inquiry): Inquiry | undefined {
  const [newest] = inquiry.turns.slice(-1);
  if (!newest || inquiry.turns.length < 2) return undefined;
  const minimum = estimateTokens({ ...inquiry, turns: [newest] });
  const cut = cutToFit(inquiry, minimum + (estimateTokens(inquiry) - minimum) / 2);
  return estimateTokens(cut) < estimateTokens(inquiry) ? cut : { ...inquiry, turns: [newest] };
}
