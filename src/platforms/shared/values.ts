/** Typed words as the values that options take. */
import { UserError } from '../../core/errors.ts';
import { parseSubject } from '../../core/moderation.ts';
import {
  type Choice,
  findChoice,
  type OptionDeclaration,
  type OptionValue,
  readNumber,
  readOption,
} from '../../core/options.ts';

/** Throws UserError, whose sentence says what would be right. `fileHint` ends the sentence about a file. */
export function typedValue(
  name: string,
  option: OptionDeclaration,
  typed: string,
  fileHint: string,
): OptionValue {
  if (option.type !== 'file') return readOption(name, typed, option);
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) {
    const sentence = `Type a file as a link that starts with https://. ${fileHint}`;
    throw new UserError(sentence.trim(), name);
  }
  const { href, pathname } = new URL(typed);
  return { name: pathname.split('/').at(-1) || 'file', url: href };
}

/** Whether a word without a flag can only be meant for this option. */
export function fits(option: OptionDeclaration, word: string): boolean {
  if (option.type === 'choice') return findChoice(option, word) !== undefined;
  if (option.type === 'text') return option.mention === true && parseSubject(word) !== undefined;
  return option.type === 'number' && readNumber(word) !== undefined;
}

/** The word for a choice: its name, where that is easily typed. */
export function typedChoice({ name, value }: Choice): string {
  return /^[a-z]+$/i.test(name) ? name : value;
}

/** A value as it may be typed. */
export function example(option: OptionDeclaration): string {
  switch (option.type) {
    case 'choice':
      return option.choices[0] === undefined ? 'value' : typedChoice(option.choices[0]);
    case 'number':
      return String(option.minimum ?? 1);
    case 'file':
      return 'https://…';
    case 'text':
    case 'flag':
      return 'word, or --…="several words"';
    default:
      return option satisfies never;
  }
}
