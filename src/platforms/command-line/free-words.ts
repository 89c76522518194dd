/** Words that no flag took. */
import type { OptionDeclaration } from '../../command.ts';
import type { Token } from './tokens.ts';
import { fits } from './values.ts';

export type Word = Extract<Token, { type: 'word' }>;

export interface PositionalWords {
  readonly given: readonly { readonly name: string; readonly word: Word }[];
  /** What is text. */
  readonly rest: readonly Word[];
}

/**
 * Parts of commands take words by their place: `/models set ask some model channel`. Options before the first text
 * option take the words at the beginning, those behind it the words at the end, as far as they fit.
 */
export function byPlace(
  words: readonly Word[],
  left: readonly (readonly [name: string, option: OptionDeclaration])[],
): PositionalWords {
  const text = left.findIndex(([, { type }]) => type === 'text');
  const before = text < 0 ? left : left.slice(0, text);
  const behind = text < 0 ? [] : left.slice(text + 1);
  const given: { name: string; word: Word }[] = [];
  const rest = [...words];
  for (const [name, option] of before) {
    const [word] = rest;
    if (word === undefined || !fits(option, word.value)) continue;
    given.push({ name, word });
    rest.shift();
  }
  for (const [name, option] of behind.toReversed()) {
    const word = rest.at(-1);
    if (word === undefined || rest.length < 2 || !fits(option, word.value)) continue;
    given.push({ name, word });
    rest.pop();
  }
  return { given, rest };
}

/** Words that stood side by side keep the space between them as it was; one whole quotation loses its quotes. */
export function joined(words: readonly Word[], text: string): string {
  const parts: string[] = [];
  let end: number | undefined;
  for (const { from, to } of words) {
    const between = end === undefined ? '' : text.slice(end, from);
    parts.push(/^\s*$/.test(between) ? between : ' ', text.slice(from, to));
    end = to;
  }
  const free = parts.join('').trim();
  const quoted = /^["“„]([^"“”„]*)["”]$/.exec(free);
  return (quoted?.[1] ?? free).trim();
}
