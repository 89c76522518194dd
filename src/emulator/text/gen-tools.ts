import { bestMatch, titleFrom, topicAfter, topicWords, wordsOf } from '../writing.ts';
import type { FunctionDeclaration, GenBody } from './gen-body.ts';

type Part = Record<string, unknown>;

/** The parts that declared functions call for: a call, or words about a function's result; null for a plain answer. */
export function answerWithTools(body: GenBody, question: string): Part[] | null {
  const result = body.contents
    .at(-1)
    ?.parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
  if (result !== undefined) return [{ text: `\`${result.name}\` says: ${describe(result.response)}` }];
  const declared = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
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
  const topics = topicWords(question).map(stem);
  const candidates = declared.map((declaration) => {
    const name = wordsOf(declaration.name.replace(/[_.:-]+|(?<=[a-z])(?=[A-Z])/g, ' '));
    const words = [...name, ...topicWords(declaration.description)].map(stem).join(' ');
    return { declaration, words };
  });
  return bestMatch(candidates, topics)?.declaration ?? null;
}

function stem(word: string): string {
  return word.replace(/(ies|s)$/, '').replace(/(ing|ed)$/, '');
}

/** What is required, else the first; of the others those that the question names. */
function fillArguments(declaration: FunctionDeclaration, question: string): Record<string, unknown> {
  const { properties = {}, required = [] } = declaration.parameters ?? {};
  const named = wordsOf(question);
  const wanted = Object.entries(properties).filter(
    ([name], index) =>
      required.includes(name) || (required.length === 0 && index === 0) || named.includes(name.toLowerCase()),
  );
  return Object.fromEntries(wanted.map(([name, property]) => [name, valueFor(name, property, question)]));
}

function valueFor(name: string, property: { type: string; enum?: unknown }, question: string): unknown {
  const words = wordsOf(question);
  if (Array.isArray(property.enum)) {
    const choices: readonly unknown[] = property.enum;
    return choices.find((choice) => words.includes(String(choice).toLowerCase())) ?? choices[0];
  }
  const number = Number(/-?\d+(\.\d+)?/.exec(question)?.[0] ?? 1);
  switch (property.type.toLowerCase()) {
    case 'number':
      return number;
    case 'integer':
      return Math.round(number);
    case 'boolean':
      return words.includes(name.toLowerCase());
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
  return topicAfter(question, /\b(?:about|in|for|of|called)\s+/i) ?? topicWords(question).join(' ');
}
