/** What people say without a command: to the bot in a direct message, by its name, or as a reply to it. */
import type { ConversationTurn, Invocation } from '../../../core/invocation.ts';
import { questionIn, type SpokenMessage } from '../../shared/question.ts';
import { findPerson } from '../connection/community.ts';
import type { History } from '../deliver/history.ts';
import { postId } from '../deliver/posts.ts';
import { WEB_LIMITS } from '../limits.ts';
import type { WebMessage } from '../render/message.ts';

const NAMED = /^@minstrel\b[\s,:]*/i;

/** What a message says to the bot; undefined where it is not for the bot. */
export function wordsToBot(
  said: WebMessage,
  { isDirect, history }: { readonly isDirect: boolean; readonly history: History },
): string | undefined {
  const repliedTo = said.replyTo === undefined ? undefined : history.find(said.replyTo);
  const isToBot = isDirect || NAMED.test(said.source) || (repliedTo !== undefined && !repliedTo.author);
  return isToBot ? said.source.replace(NAMED, '').trim() : undefined;
}

/** The question as an invocation, with what was said before it. */
export function questionAsking(
  said: WebMessage,
  question: SpokenMessage,
  { isDirect, history }: { readonly isDirect: boolean; readonly history: History },
): Pick<Invocation, 'command' | 'options' | 'conversation' | 'isMessage' | 'files'> {
  const before = isDirect && said.replyTo === undefined ? latest(said, history) : replies(said, history);
  return { ...questionIn(question), conversation: before.map(turnOf) };
}

/** The latest messages of the channel that everybody in it sees, oldest first. */
function latest({ id, channel }: WebMessage, history: History): WebMessage[] {
  const there = history.all().filter((message) => message.channel === channel && !message.to);
  const end = there.findIndex((message) => message.id === id);
  return there.slice(0, end < 0 ? there.length : end).slice(-WEB_LIMITS.conversation);
}

/** The chain of replies that ends in this message, oldest first. */
function replies(said: WebMessage, history: History): WebMessage[] {
  const chain: WebMessage[] = [];
  let next = said.replyTo;
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
