/** Declarations of command options, and the validation of their values before anything is spent. */
import { UserError } from './errors.ts';
import { nearest } from './util/nearest.ts';
import { own } from './util/own.ts';

export interface Choice {
  readonly name: string;
  readonly value: string;
  /** A word that people can type instead of the name or value. */
  readonly typed?: string;
}

interface OptionBase {
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  /** The label of its field in forms, at most 45 characters (Discord's limit). By default its name. */
  readonly label?: string;
  /** A sentence below the field, at most 100 characters (Discord's limit). By default the description. */
  readonly help?: string;
  /** Few people need it, so forms of commands hide it under "More options". */
  readonly rare?: true;
  readonly required?: boolean;
}

export interface TextOption extends OptionBase {
  readonly type: 'text';
  /** In characters. */
  readonly maximumLength?: number;
  /** Forms show a text area. */
  readonly multiline?: boolean;
  /** Takes one person or role. Platforms show their own picker and pass a mention, such as `<@id>` or `<@&id|name>`. */
  readonly mention?: boolean;
  /** {@link Command.autocomplete} suggests values while the person types; any text is valid. */
  readonly autocomplete?: true;
}

export interface ChoiceOption extends OptionBase {
  readonly type: 'choice';
  readonly choices: readonly Choice[];
  /** The value that an empty field means. Forms preselect it. */
  readonly default?: string;
}

export interface FlagOption extends OptionBase {
  readonly type: 'flag';
}

export interface NumberOption extends OptionBase {
  readonly type: 'number';
  readonly integer?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface FileOption extends OptionBase {
  readonly type: 'file';
  readonly accept: readonly ('audio' | 'image' | 'text' | 'video')[];
  readonly maximumBytes: number;
}

export type OptionDeclaration = TextOption | ChoiceOption | FlagOption | NumberOption | FileOption;

/** Declarations by name. On Slack, text without a flag goes to the first text option. */
export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

/** A file that a person attached, as described by the platform. Not verified yet. */
export interface FileReference {
  readonly name: string;
  readonly contentType?: string | undefined;
  readonly bytes?: number | undefined;
  readonly url: string;
  /** The platform serves the file at `url`, so the bot's credentials may be sent there. Absent for a URL that a person typed. */
  readonly attached?: true;
  /** Embedded by an app in a message. A question about the message works without it. */
  readonly embedded?: true;
}

export type OptionValue = string | number | boolean | FileReference;

/** Values of {@link Invocation.options} before validation. */
export type RawOptions = Readonly<Record<string, OptionValue | undefined>>;

type ValueOf<Declaration> = Declaration extends { readonly type: 'flag' }
  ? boolean
  : Declaration extends { readonly type: 'number' }
    ? number
    : Declaration extends { readonly type: 'file' }
      ? FileReference
      : Declaration extends {
            readonly type: 'choice';
            readonly choices: readonly { readonly value: infer Value }[];
          }
        ? Value
        : string;

/** The validated values that a declaration describes. */
export type OptionValues<Declarations extends OptionDeclarations> = {
  readonly [Name in keyof Declarations as Declarations[Name] extends { readonly required: true }
    ? Name
    : never]: ValueOf<Declarations[Name]>;
} & {
  readonly [Name in keyof Declarations as Declarations[Name] extends { readonly required: true }
    ? never
    : Name]?: ValueOf<Declarations[Name]> | undefined;
};

/** A form for options. A sent form becomes an invocation with the same `id`. */
export interface Form {
  /** The command's name, or an action id. */
  readonly id: string;
  readonly title: string;
  readonly submitLabel: string;
  readonly options: OptionDeclarations;
  /** Initial values of the fields. */
  readonly initial: RawOptions;
}

/** A button that opens the form of a command, or of one of its subcommands. */
export interface FormButton extends Pick<Form, 'initial'> {
  readonly command: string;
  readonly subcommand?: string;
  readonly label: string;
  readonly emphasis?: 'primary';
}

/** The label of an option's field in forms. */
export function fieldLabel(name: string, { label }: Pick<OptionDeclaration, 'label'>): string {
  const words = name.replace(/[-_]/g, ' ');
  return label ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Runs the request of a form. UserErrors name its fields as the form does, not as people type options. */
export async function namingFields<Value>(
  declarations: OptionDeclarations,
  run: () => Promise<Value>,
): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const sentence = error.message.replace(/“([\w-]+)”/g, (quoted, name: string) => {
      const option = own(declarations, name);
      return option ? `“${fieldLabel(name, option)}”` : quoted;
    });
    throw new UserError(sentence, error.option, error.refusedUntil);
  }
}

const MEBIBYTE = 1024 * 1024;

/** Validates all options. Throws UserError with the name of the invalid option. */
export function validateOptions(raw: RawOptions, declarations: OptionDeclarations): RawOptions {
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(declarations, name))
      throw new UserError(unknownOption(name, Object.keys(declarations)), name);
  }
  const values: Record<string, OptionValue> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    const value = nonEmpty(raw[name]);
    if (value !== undefined) values[name] = readOption(name, value, declaration);
    else if (declaration.required)
      throw new UserError(`The option “${name}” is required: ${declaration.description}.`, name);
  }
  return values;
}

function unknownOption(name: string, known: readonly string[]): string {
  if (known.length === 0) return `There is no option “${name}”. This command has no options.`;
  const suggestion = nearest(name, known);
  const hint =
    suggestion === undefined ? `This command takes ${known.join(', ')}.` : `Did you mean “${suggestion}”?`;
  return `There is no option “${name}”. ${hint}`;
}

function nonEmpty(value: OptionValue | undefined): OptionValue | undefined {
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** Validates and converts the value of one option. Throws UserError. */
export function readOption(name: string, value: OptionValue, declaration: OptionDeclaration): OptionValue {
  switch (declaration.type) {
    case 'text': {
      if (typeof value === 'object') throw new UserError(`“${name}” takes text, not a file.`, name);
      const text = String(value).trim();
      const limit = declaration.maximumLength;
      if (limit === undefined || text.length <= limit) return text;
      throw new UserError(`“${name}” is too long: ${text.length} characters. The limit is ${limit}.`, name);
    }
    case 'choice': {
      const match = findChoice(declaration, String(value));
      if (match !== undefined) return match;
      const names = declaration.choices.map((choice) => choice.typed ?? choice.name).join(', ');
      throw new UserError(`“${name}” must be one of: ${names}.`, name);
    }
    case 'flag': {
      if (typeof value === 'boolean') return value;
      const word = String(value).trim().toLowerCase();
      if (YES.has(word)) return true;
      if (NO.has(word)) return false;
      throw new UserError(`“${name}” must be on or off.`, name);
    }
    case 'number': {
      const number = typeof value === 'string' ? readNumber(value) : value;
      const {
        minimum = Number.NEGATIVE_INFINITY,
        maximum = Number.POSITIVE_INFINITY,
        integer = false,
      } = declaration;
      if (typeof number !== 'number' || !Number.isFinite(number))
        throw new UserError(`“${name}” must be a number, such as 5, 2.5 or 1,000.`, name);
      if (integer && !Number.isInteger(number))
        throw new UserError(`“${name}” must be a whole number.`, name);
      if (number < minimum) throw new UserError(`“${name}” must be at least ${minimum}.`, name);
      if (number > maximum) throw new UserError(`“${name}” must be at most ${maximum}.`, name);
      // Never -0, which people would see as typed.
      return number + 0;
    }
    case 'file':
      return file(name, value, declaration);
    default:
      return declaration satisfies never;
  }
}

/** Finds the value of a choice by any of its texts. */
export function findChoice({ choices }: ChoiceOption, text: string): string | undefined {
  const query = text.trim().toLowerCase();
  return choices.find(({ name, value, typed }) =>
    [value, name, typed].some((each) => each?.toLowerCase() === query),
  )?.value;
}

/** Parses `5`, `2.5`, `2,5` and `1,000`; undefined if the text is not a number. */
export function readNumber(text: string): number | undefined {
  const typed = text.trim();
  const isGrouped = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(typed);
  const digits = isGrouped ? typed.replaceAll(',', '') : typed.replace(',', '.');
  return /^[+-]?(?:\d+|\d*\.\d+)$/.test(digits) ? Number(digits) : undefined;
}

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

/** Checks the platform's description of a file. The content is checked when it is fetched. */
function file(name: string, value: OptionValue, { accept, maximumBytes }: FileOption): OptionValue {
  if (typeof value !== 'object') throw new UserError(`“${name}” takes a file. Please attach one.`, name);
  const kind = value.contentType?.split('/')[0];
  if (kind !== undefined && kind !== 'application' && !accept.some((accepted) => accepted === kind)) {
    throw new UserError(
      `“${name}” takes ${accept.join(' or ')} files, and ${value.name} isn't one. Attach a different file.`,
      name,
    );
  }
  if (value.bytes !== undefined && value.bytes > maximumBytes) {
    const limit = Math.floor(maximumBytes / MEBIBYTE);
    throw new UserError(
      `${value.name} is too large. “${name}” takes files of up to ${limit} MB. Attach a smaller file.`,
      name,
    );
  }
  return value;
}
