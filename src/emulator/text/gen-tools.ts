import { titleFrom, topicWords } from '../lyrics.ts';
import { wordsOf } from '../words.ts';
import type { Turn } from './conversation.ts';
import type { FunctionDeclaration, GenBody } from './gen-body.ts';

type Part = Record<string, unknown>;

/** The parts that declared functions call for: a call, or words about a function's result; null for a plain answer. */
export function answerWithTools(body: GenBody, turns: readonly Turn[]): Part[] | null {
  const result = body.contents
    .at(-1)
    ?.parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
  if (result !== undefined) return [{ text: `\`${result.name}\` says: ${describe(result.response)}` }];
  const declared = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  const question = turns.findLast((turn) => turn.role === 'user')?.text ?? '';
  const chosen = chooseFunction(declared, question);
  if (chosen === null) return null;
  return [{ functionCall: { name: chosen.name, args: fillArguments(chosen, question) } }];
}

function describe(response: Record<string, unknown>): string {
  const members = Object.entries(response).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name} is **${text}**`;
  });
  return members.length === 0 ? 'nothing at all.' : `${members.join(', ')}.`;
}

/** The function whose name and description share most words with the question; none when they share none. */
function chooseFunction(
  declared: readonly FunctionDeclaration[],
  question: string,
): FunctionDeclaration | null {
  const asked = new Set(topicWords(question).map(stem));
  let best: FunctionDeclaration | null = null;
  let bestScore = 0;
  for (const declaration of declared) {
    const name = wordsOf(declaration.name.replace(/[_.:-]+|(?<=[a-z])(?=[A-Z])/g, ' ')).map(stem);
    const described = topicWords(declaration.description).map(stem);
    const score =
      2 * name.filter((word) => asked.has(word)).length + described.filter((word) => asked.has(word)).length;
    if (score > bestScore) {
      best = declaration;
      bestScore = score;
    }
  }
  return best;
}

function stem(word: string): string {
  return word.replace(/(ies|s)$/, '').replace(/(ing|ed)$/, '');
}

/** What is required, else the first; of the others those that the question names. */
function fillArguments(declaration: FunctionDeclaration, question: string): Record<string, unknown> {
  const { properties = {}, required = [] } = declaration.parameters ?? {};
  const named = new Set(wordsOf(question).map((word) => word.toLowerCase()));
  const wanted = Object.entries(properties).filter(
    ([name], index) =>
      required.includes(name) || (required.length === 0 && index === 0) || named.has(name.toLowerCase()),
  );
  return Object.fromEntries(
    wanted.map(([name, property]) => [name, valueFor(name, property, question) ?? question]),
  );
}

function valueFor(
  name: string,
  property: { type: string; [key: string]: unknown },
  question: string,
): unknown {
  const choices = property.enum;
  if (Array.isArray(choices)) {
    return choices.find((choice) => wordsOf(question).includes(String(choice).toLowerCase())) ?? choices[0];
  }
  const number = /-?\d+(\.\d+)?/.exec(question)?.[0];
  switch (property.type.toLowerCase()) {
    case 'number':
      return number === undefined ? 1 : Number(number);
    case 'integer':
      return number === undefined ? 1 : Math.round(Number(number));
    case 'boolean':
      return wordsOf(question).includes(name.toLowerCase());
    case 'array':
      return topicWords(question).slice(0, 3);
    case 'object':
      return {};
    default:
      return /title|name/i.test(name) ? titleFrom(question) : subject(question);
  }
}

/** What the question is about: after "about", "in" or "of", else its topic words. */
function subject(question: string): string {
  const match = /\b(?:about|in|for|of|called)\s+([^?.!\n]+)/i.exec(question)?.[1];
  return match?.trim() ?? topicWords(question).join(' ');
}
