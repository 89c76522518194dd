import type { Question } from './answer.ts';

const introduction = /\b(?:my name is|call me|i am called)\s+([\p{L}][\p{L}'-]*)/iu;
const favourite = /\bmy favou?rite ([\p{L} ]+?) is ([^.!?\n]+)/giu;

/** Answers what can be known from the conversation: names, favourites, what was asked before. */
export function answerFromMemory({ text, before }: Question): string | null {
  const said = before.filter((turn) => turn.role === 'user').map((turn) => turn.text);
  if (/\b(what('?s| is) my name|who am i|do you (know|remember) my name)\b/i.test(text)) {
    const name = said.map((line) => introduction.exec(line)?.[1]).findLast((found) => found !== undefined);
    return name === undefined
      ? 'You have not told me your name yet. What is it?'
      : `Your name is **${name}**.`;
  }
  const asked = /\bwhat('?s| is) my favou?rite ([\p{L} ]+?)\s*\??$/iu.exec(text)?.[2]?.toLowerCase();
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
