import { type ConversationMessage, countTextTokens, countTokens } from '../conversation.ts';
import { answerArithmetic } from './arithmetic.ts';
import { answerCode } from './code.ts';
import { describePicture } from './picture.ts';
import {
  answerAnything,
  answerEssay,
  answerExplanation,
  answerList,
  answerTable,
  answerVerse,
} from './prose.ts';
import { answerFromMemory, answerGreeting } from './small-talk.ts';

/** They answer the questions that they understand, in Markdown; null leaves a question to the next. */
const answerers: readonly ((text: string, before: readonly ConversationMessage[]) => string | null)[] = [
  answerFromMemory,
  answerGreeting,
  answerArithmetic,
  answerVerse,
  answerCode,
  answerList,
  answerTable,
  answerEssay,
  answerExplanation,
];

/**
 * Answers a conversation's last question, cut between words at a number of tokens; `read` and `written` are the tokens of
 * the conversation and of the answer. Equal conversations get equal answers.
 */
export async function writeAnswer(messages: readonly ConversationMessage[], mostTokens: number) {
  const whole = await answerLast(messages);
  const cut = countTextTokens(whole) > mostTokens;
  const kept = whole.slice(0, mostTokens * 4);
  const text = cut ? kept.replace(/(?<!^) [^ ]*$/, '') : whole;
  return { text, cut, read: countTokens(messages), written: countTextTokens(text) };
}

async function answerLast(messages: readonly ConversationMessage[]): Promise<string> {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) return 'You have not asked me anything yet. What would you like to know?';
  const before = messages.slice(0, messages.lastIndexOf(last));
  const question = last.text.trim();
  if (last.pictures.length > 0)
    return answerPictures(await Promise.all(last.pictures.map(describePicture)), question);
  for (const answerer of answerers) {
    const text = answerer(question, before);
    if (text !== null) return briefly(text, messages);
  }
  return briefly(answerAnything(question), messages);
}

/** Keeps to the first paragraph when the system asks for short answers. */
function briefly(text: string, messages: readonly ConversationMessage[]): string {
  const isAsked = messages.some(
    (message) => message.role === 'system' && /\b(brief|concise|short|one sentence)\b/i.test(message.text),
  );
  return isAsked && !text.includes('```') ? (text.split('\n\n')[0] ?? text) : text;
}

function answerPictures(seen: readonly string[], question: string): string {
  const [only] = seen;
  const what =
    seen.length === 1
      ? `I see ${only}.`
      : `I see ${seen.length} pictures:\n\n${seen.map((one) => `- ${one}`).join('\n')}`;
  return question === ''
    ? what
    : `${what}\n\nYou asked: “${question}” From here I can tell its size and colours; for the rest I would need better glasses.`;
}
