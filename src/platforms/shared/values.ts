/** Typed words as the values that options take. */
import { UserError } from '../../core/errors.ts';
import { parseSubject } from '../../core/moderation.ts';
import { type Choice, type OptionDeclaration, type OptionValue, readNumber } from '../../core/options.ts';

/** Throws UserError, whose sentence says what would be right. `fileHint` ends the sentence about a file. */
export function typedValue(
  name: string,
  option: OptionDeclaration,
  typed: string,
  fileHint: string,
): OptionValue {
  switch (option.type) {
    case 'choice': {
      const found = chosen(option, typed);
      if (found !== undefined) return found;
      const values = option.choices.map(typedChoice);
      throw new UserError(`--${name} cannot be “${typed}”. Choose one of ${values.join(', ')}.`, name);
    }
    case 'number': {
      const number = readNumber(typed);
      if (number === undefined)
        throw new UserError(`--${name} has to be a number, such as 5, 2.5 or 1,000, not “${typed}”.`, name);
      return number;
    }
    case 'file': {
      if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) {
        const sentence = `A file cannot be typed, only its address, as in https://…. ${fileHint}`;
        throw new UserError(sentence.trim(), name);
      }
      const { href, pathname } = new URL(typed);
      return { name: pathname.split('/').at(-1) || 'file', url: href };
    }
    case 'flag':
      return typedFlag(name, typed);
    case 'text':
      return typed;
    default:
      return option satisfies never;
  }
}

export function typedFlag(name: string, typed = 'yes'): boolean {
  if (/^(true|yes|on|1)$/i.test(typed)) return true;
  if (/^(false|no|off|0)$/i.test(typed)) return false;
  throw new UserError(`--${name} is a switch: write --${name} or --no-${name}.`, name);
}

/** Whether a word without a flag can only be meant for this option. */
export function fits(option: OptionDeclaration, word: string): boolean {
  if (option.type === 'choice') return chosen(option, word) !== undefined;
  if (option.type === 'text') return option.mention === true && parseSubject(word) !== undefined;
  return option.type === 'number' && readNumber(word) !== undefined;
}

function chosen(
  { choices }: Extract<OptionDeclaration, { type: 'choice' }>,
  typed: string,
): string | undefined {
  const wanted = typed.trim().toLowerCase();
  return choices.find((choice) => [choice.value, choice.name].some((text) => text.toLowerCase() === wanted))
    ?.value;
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
