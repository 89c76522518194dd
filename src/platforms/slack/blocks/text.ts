/** Text: rich where Slack takes it, plain where it did not. */
import type { types } from '@slack/bolt';
import type { Message } from '../../../message.ts';
import { escapeMrkdwn, splitMrkdwn, splitPlain } from '../escape.ts';
import { LIMITS } from '../limits.ts';
import { plainOfMarkdown, slackMarkdown } from '../markdown.ts';

export function textPieces(
  text: string,
  budget: number,
  { bare }: { readonly bare?: boolean },
): types.KnownBlock[] {
  if (text === '') return [];
  return bare ? barePieces(text) : richPieces(text, budget);
}

/** A markdown block must fit beside title and buttons, so it takes no more than four fifths of a part. */
function richPieces(text: string, budget: number): types.KnownBlock[] {
  return slackMarkdown(text, Math.floor(budget * 0.8)).map((piece) => ({ type: 'markdown', text: piece }));
}

function barePieces(text: string): types.KnownBlock[] {
  return splitPlain(plainOfMarkdown(text), LIMITS.sectionText).map(plainSection);
}

export function plainSection(text: string): types.KnownBlock {
  return { type: 'section', text: { type: 'plain_text', text, emoji: false } };
}

/** What notifications and screen readers get; mrkdwn. */
export function summaryOf(message: Message, { person }: { readonly person: string }): string {
  const mention = message.notify ? `<@${escapeMrkdwn(person)}> ` : '';
  const text =
    message.text === undefined ? undefined : plainOfMarkdown(message.text.slice(0, LIMITS.fallbackText * 2));
  const facts = [message.title, message.progress?.stage, text, message.media?.[0]?.name, message.footer];
  const said = facts.filter((fact) => fact !== undefined && fact.trim() !== '').join(' · ');
  const [first] = splitMrkdwn(said, LIMITS.fallbackText);
  return `${mention}${first ?? '…'}`;
}
