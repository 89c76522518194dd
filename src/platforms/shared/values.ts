/** Converts typed words to option values. */
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

/** Throws a UserError that explains the valid values. `fileHint` is appended to the error for files. */
export function typedValue(
  name: string,
  option: OptionDeclaration,
  typed: string,
  fileHint: string,
): OptionValue {
  if (option.type !== 'file') return readOption(name, typed, option);
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) {
    const sentence = `Enter a link that starts with https://. ${fileHint}`;
    throw new UserError(sentence.trim(), name);
  }
  const { href, pathname } = new URL(typed);
  return { name: pathname.split('/').at(-1) || 'file', url: href };
}

/** Whether a word without a flag can only belong to this option. */
export function fits(option: OptionDeclaration, word: string): boolean {
  if (option.type === 'choice') return findChoice(option, word) !== undefined;
  if (option.type === 'text') return option.mention === true && parseSubject(word) !== undefined;
  return option.type === 'number' && readNumber(word) !== undefined;
}

/** The word people type for a choice. */
export function typedChoice({ name, value, typed }: Choice): string {
  return typed ?? (/^[a-z]+$/i.test(name) ? name : value);
}

/** An example value. */
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
