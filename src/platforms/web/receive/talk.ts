/** Messages to the bot without a command: direct messages, mentions and replies. */
import type { ConversationTurn, Invocation } from '../../../core/invocation.ts';
import type { BrowserAnswer } from '../../../core/web/browser-chat.ts';
import { type PersonMessage, questionIn } from '../../shared/question.ts';
import { findPerson } from '../connection/community.ts';
import type { History } from '../deliver/history.ts';
import { postId } from '../deliver/posts.ts';
import { WEB_LIMITS } from '../limits.ts';
import type { WebMessage } from '../render/message.ts';

const NAMED = /^@minstrel\b[\s,:]*/i;

/** The text of a message to the bot; undefined if it is not for the bot. */
export function textForBot(
  message: WebMessage,
  { isDirect, history }: { readonly isDirect: boolean; readonly history: History },
): string | undefined {
  const repliedTo = message.replyTo === undefined ? undefined : history.find(message.replyTo);
  const isForBot = isDirect || NAMED.test(message.source) || (repliedTo !== undefined && !repliedTo.author);
  return isForBot ? message.source.replace(NAMED, '').trim() : undefined;
}

/** Explains why a message gets no answer, unless it is for somebody else. */
export function hintFor({ id, source, replyTo }: WebMessage): BrowserAnswer {
  if (replyTo !== undefined) return { type: 'done', shown: id };
  return {
    type: 'notice',
    sentence: 'Here, I only answer messages that mention me.',
    draft: `@Minstrel ${source}`,
  };
}

/** The question as an invocation, with the conversation before it. */
export function questionFor(
  message: WebMessage,
  question: PersonMessage,
  { isDirect, history }: { readonly isDirect: boolean; readonly history: History },
): Pick<Invocation, 'command' | 'options' | 'conversation' | 'isMessage' | 'files'> {
  const conversation =
    isDirect && message.replyTo === undefined ? latest(message, history) : replies(message, history);
  return { ...questionIn(question), conversation: conversation.map(turnOf) };
}

/** The latest messages visible to everyone in the channel, oldest first. */
function latest({ id, channel }: WebMessage, history: History): WebMessage[] {
  const inChannel = history.all().filter((other) => other.channel === channel && !other.to);
  const end = inChannel.findIndex((other) => other.id === id);
  return inChannel.slice(0, end < 0 ? inChannel.length : end).slice(-WEB_LIMITS.conversation);
}

/** The chain of replies that leads to this message, oldest first. */
function replies(message: WebMessage, history: History): WebMessage[] {
  const chain: WebMessage[] = [];
  let next = message.replyTo;
  while (next !== undefined && chain.length < WEB_LIMITS.conversation) {
    const found = history.find(next);
    if (!found || found.to !== undefined || chain.includes(found)) break;
    chain.unshift(found);
    next = found.replyTo;
  }
  return chain;
}

function turnOf({ id, author, source, line }: WebMessage): ConversationTurn {
  if (author === undefined)
    return { author: 'bot', text: source, files: [], job: id.slice(postId('').length) };
  const name = findPerson(author)?.displayName ?? author;
  return { author: 'person', name, person: author, text: line ?? source.replace(NAMED, ''), files: [] };
}
