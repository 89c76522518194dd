/** Checks what people typed against a command's declaration, before anything is spent. */
import { closest } from 'fastest-levenshtein';
import type {
  FileOption,
  OptionDeclaration,
  OptionDeclarations,
  OptionValue,
  RawOptions,
} from './command.ts';
import { UserError } from './errors.ts';

const MEBIBYTE = 1024 * 1024;

/** The values that the declaration promises. Throws UserError that names the option and the way out. */
export function validateOptions(raw: RawOptions, declarations: OptionDeclarations): RawOptions {
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(declarations, name))
      throw new UserError(unknownOption(name, Object.keys(declarations)), name);
  }
  const values: Record<string, OptionValue> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    const value = present(raw[name]);
    if (value !== undefined) values[name] = validate(name, value, declaration);
    else if (declaration.required)
      throw new UserError(`Please give the option “${name}”: ${declaration.description}.`, name);
  }
  return values;
}

function unknownOption(name: string, known: readonly string[]): string {
  if (known.length === 0) return `There is no option “${name}”; this command has none.`;
  return `There is no option “${name}”. Did you mean “${closest(name, [...known])}”?`;
}

function present(value: OptionValue | undefined): OptionValue | undefined {
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

function validate(name: string, value: OptionValue, declaration: OptionDeclaration): OptionValue {
  switch (declaration.type) {
    case 'text': {
      if (typeof value === 'object') throw new UserError(`“${name}” takes text, not a file.`, name);
      const text = String(value).trim();
      const most = declaration.maximumLength;
      if (most === undefined || text.length <= most) return text;
      throw new UserError(
        `“${name}” has ${text.length} characters; ${most} are allowed. Please shorten it.`,
        name,
      );
    }
    case 'choice': {
      const wanted = String(value).trim().toLowerCase();
      const found = declaration.choices.find(
        (choice) => choice.value.toLowerCase() === wanted || choice.name.toLowerCase() === wanted,
      );
      if (found) return found.value;
      const names = declaration.choices.map((choice) => choice.name).join(', ');
      throw new UserError(`“${name}” can be ${names}.`, name);
    }
    case 'flag':
      return flag(name, value);
    case 'number': {
      const number =
        typeof value === 'number' ? value : Number(typeof value === 'string' ? value.trim() : Number.NaN);
      const {
        minimum = Number.NEGATIVE_INFINITY,
        maximum = Number.POSITIVE_INFINITY,
        integer = false,
      } = declaration;
      if (!Number.isFinite(number)) throw new UserError(`“${name}” takes a number.`, name);
      if (integer && !Number.isInteger(number)) throw new UserError(`“${name}” takes a whole number.`, name);
      if (number < minimum) throw new UserError(`“${name}” must be at least ${minimum}.`, name);
      if (number > maximum) throw new UserError(`“${name}” must be at most ${maximum}.`, name);
      return number;
    }
    case 'file':
      return file(name, value, declaration);
    default:
      return declaration satisfies never;
  }
}

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

function flag(name: string, value: OptionValue): boolean {
  if (typeof value === 'boolean') return value;
  const word = String(value).trim().toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new UserError(`“${name}” is either on or off.`, name);
}

/** What the platform says of a file; its content is checked when it is fetched. */
function file(name: string, value: OptionValue, { accept, maximumBytes }: FileOption): OptionValue {
  if (typeof value !== 'object') throw new UserError(`“${name}” takes a file: please attach one.`, name);
  const kind = value.contentType?.split('/')[0];
  if (kind !== undefined && kind !== 'application' && !accept.some((accepted) => accepted === kind)) {
    throw new UserError(
      `“${name}” takes ${accept.join(' or ')} files; ${value.name} is something else.`,
      name,
    );
  }
  if (value.bytes !== undefined && value.bytes > maximumBytes) {
    const most = Math.floor(maximumBytes / MEBIBYTE);
    throw new UserError(`${value.name} is too large: “${name}” takes files of up to ${most} MB.`, name);
  }
  return value;
}
