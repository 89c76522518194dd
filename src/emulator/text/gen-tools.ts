import { asksToCreate, bestMatch, titleFrom, topicAfter, topicWords, wordsOf } from '../writing.ts';
import type { FunctionDeclaration, GenBody } from './gen-body.ts';

type Part = Record<string, unknown>;

/** Returns a function call or a text about a function's result. Null if no function matches. */
export function answerWithTools({ contents, tools = [] }: GenBody, question: string): Part[] | null {
  const result = contents.at(-1)?.parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
  if (result !== undefined) {
    const members = Object.entries(result.response).map(([name, value]) => {
      return `${name} is **${typeof value === 'string' ? value : JSON.stringify(value)}**`;
    });
    return [{ text: `\`${result.name}\` returned: ${members.join(', ')}.` }];
  }
  const candidates = tools
    .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .map((declaration) => {
      const name = wordsOf(declaration.name.replace(/[_.:-]+|(?<=[a-z])(?=[A-Z])/g, ' '));
      const words = [...name, ...topicWords(declaration.description)].map(stem).join(' ');
      return { declaration, words };
    });
  // The function whose name and description share the most words with the question.
  const chosen = bestMatch(candidates, wordsToMatch(question).map(stem))?.declaration;
  return chosen ? [{ functionCall: { name: chosen.name, args: argumentsOf(chosen, question) } }] : null;
}

/** A request may name a function by a word that topics leave out, such as “song”. */
function wordsToMatch(question: string): string[] {
  return asksToCreate(question) ? wordsOf(question) : topicWords(question);
}

function stem(word: string): string {
  return word.replace(/(ies|s)$/, '').replace(/(ing|ed)$/, '');
}

/** Returns values for the required parameters, or for the first one. */
function argumentsOf({ parameters }: FunctionDeclaration, question: string): Record<string, unknown> {
  const { properties = {}, required = [] } = parameters ?? {};
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, valueFor(name, properties[name], question)]));
}

function valueFor(
  name: string,
  property: { readonly type: string; readonly enum?: unknown } | undefined,
  question: string,
): unknown {
  if (Array.isArray(property?.enum)) {
    const words = wordsOf(question);
    const choices: readonly unknown[] = property.enum;
    return choices.find((choice) => words.includes(String(choice).toLowerCase())) ?? choices[0];
  }
  switch (property?.type.toLowerCase()) {
    case 'number':
    case 'integer':
      return Number(/\d+/.exec(question)?.[0] ?? 1);
    case 'boolean':
      return wordsOf(question).includes(name.toLowerCase());
    default:
      if (/title|name/i.test(name)) return titleFrom(question);
      return topicAfter(question, /\b(?:about|in|for|of|called)\s+/i) ?? topicWords(question).join(' ');
  }
}
