/** Typed words as the values that options take. Each refusal names the problem and the way out. */
import type { FileOption, NumberOption, OptionDeclaration, OptionValue } from '../../command.ts';
import { UserError } from '../../errors.ts';

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

/** Throws UserError. `wayToGiveFile` ends the sentence about a file that cannot be typed. */
export function typedValue(
  name: string,
  option: OptionDeclaration,
  typed: string,
  wayToGiveFile: string,
): OptionValue {
  switch (option.type) {
    case 'choice': {
      const found = chosen(option, typed);
      if (found !== undefined) return found;
      const values = option.choices.map(({ value }) => value);
      throw new UserError(`--${name} cannot be “${typed}”. Choose one of ${values.join(', ')}.`, name);
    }
    case 'number': {
      const number = typedNumber(typed);
      if (number === undefined) throw new UserError(`--${name} has to be a number, not “${typed}”.`, name);
      return number;
    }
    case 'file':
      return typedFile(name, option, typed, wayToGiveFile);
    case 'flag':
      return typedFlag(name, typed);
    case 'text':
      return typed;
    default:
      return option satisfies never;
  }
}

export function typedFlag(name: string, typed: string | undefined): boolean {
  if (typed === undefined || YES.has(typed.toLowerCase())) return true;
  if (NO.has(typed.toLowerCase())) return false;
  throw new UserError(`--${name} is a switch: write --${name} or --no-${name}.`, name);
}

/** Whether a word that stands alone can only be meant for this option. */
export function fits(option: OptionDeclaration, word: string): boolean {
  if (option.type === 'choice') return chosen(option, word) !== undefined;
  if (option.type === 'text') return option.mention === true && /^<@/.test(word);
  return option.type === 'number' && typedNumber(word) !== undefined;
}

function chosen(
  { choices }: Extract<OptionDeclaration, { type: 'choice' }>,
  typed: string,
): string | undefined {
  const wanted = typed.trim().toLowerCase();
  return choices.find(
    (choice) => choice.value.toLowerCase() === wanted || choice.name.toLowerCase() === wanted,
  )?.value;
}

function typedNumber(typed: string): NumberOption['minimum'] {
  const number = Number(typed.replace(',', '.'));
  return typed.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

/** Files cannot be typed, but their addresses can. */
function typedFile(name: string, _option: FileOption, typed: string, wayToGiveFile: string): OptionValue {
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed)) {
    throw new UserError(
      `A file cannot be typed, only its address, as in https://…. ${wayToGiveFile}`.trim(),
      name,
    );
  }
  const { href, pathname } = new URL(typed);
  return { name: pathname.split('/').at(-1) || 'file', url: href };
}

/** What a value may look like. */
export function example(option: OptionDeclaration): string {
  switch (option.type) {
    case 'choice':
      return option.choices[0]?.value ?? 'value';
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
