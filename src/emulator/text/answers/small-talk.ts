import { createRandom } from '../../random.ts';
import type { ConversationMessage } from '../conversation.ts';

const introduction = /\b(?:my name is|call me|i am called)\s+([\p{L}][\p{L}'-]*)/iu;
const favourite = /\bmy favou?rite (\p{L}+(?: \p{L}+){0,3}) is ([^.!?\n]+)/giu;

/** Answers what can be known from the conversation: names, favourites, what was asked before. */
export function answerFromMemory(text: string, before: readonly ConversationMessage[]): string | null {
  const said = before.filter(({ role }) => role === 'user').map((message) => message.text);
  if (/\b(what('?s| is) my name|who am i|do you (know|remember) my name)\b/i.test(text)) {
    const name = said.map((line) => introduction.exec(line)?.[1]).findLast((found) => found !== undefined);
    return name === undefined
      ? 'You have not told me your name yet. What is it?'
      : `Your name is **${name}**.`;
  }
  const asked = /\bwhat('?s| is) my favou?rite (\p{L}+(?: \p{L}+){0,3})\s*\??$/iu
    .exec(text)?.[2]
    ?.toLowerCase();
  if (asked !== undefined) {
    const known = said
      .flatMap((line) => [...line.matchAll(favourite)])
      .findLast((match) => match[1]?.toLowerCase() === asked);
    return known === undefined
      ? `You have not told me your favourite ${asked}.`
      : `Your favourite ${asked} is **${known[2]?.trim()}**.`;
  }
  if (/\bwhat did i (just )?(ask|say)\b|\bmy (last|previous) (question|message)\b/i.test(text)) {
    const last = said.at(-1);
    return last === undefined ? 'This is the first thing you have said to me.' : `You said: “${last}”`;
  }
  const name = introduction.exec(text)?.[1];
  if (name !== undefined) return `Nice to meet you, **${name}**! I will remember that while we talk.`;
  const told = [...text.matchAll(favourite)][0];
  if (told !== undefined) return `${told[2]?.trim()}, a fine choice of ${told[1]}! Noted.`;
  return null;
}

const hellos = ['Hello', 'Hi there', 'Good to see you', 'Greetings'] as const;

/** Answers greetings, thanks and questions about the answerer. */
export function answerGreeting(text: string, before: readonly ConversationMessage[]): string | null {
  if (
    /^(hi|hello|hey|good (morning|evening|afternoon)|greetings|yo)\b[\s!.,]*(?:(?:there|minstrel|everyone|all)[\s!.,]*)?$/i.test(
      text,
    )
  ) {
    const again = before.some(({ role }) => role === 'assistant');
    const random = createRandom(text);
    return again
      ? 'Hello again! Where were we?'
      : `${random.pick(hellos)}! Ask me for a haiku, a sum, a list, or an explanation.`;
  }
  if (/^(thanks|thank you|cheers|ta)\b/i.test(text)) return 'You are very welcome!';
  if (/\bhow are you\b/i.test(text)) return 'Running smoothly, all circuits in tune. How are *you*?';
  if (/\b(who|what) are you\b/i.test(text)) {
    return 'I am the answering half of a **gateway emulator**: deterministic, cheerful, and entirely on this machine.';
  }
  if (/^(bye|goodbye|good night)\b/i.test(text))
    return 'Goodbye! I will remember nothing and be just as glad next time.';
  return null;
}
