/** The grammar of typed commands: `a tune for rain --style dark lofi --instrumental`. */
import type { OptionDeclaration, OptionDeclarations, OptionValue, RawOptions } from '../command.ts';
import { UserError } from '../errors.ts';

/**
 * Reads what a person typed behind a command's name.
 *
 * - Words outside of any option belong to the first text option.
 * - `--name value` and `--name=value`: a text takes everything up to the next option; a choice, a number and a file
 *   (its address) take one word.
 * - Quotes keep a value together, spaces and dashes included: `--title "Rain --again" a tune`.
 * - A flag takes no value: `--instrumental`, or `--instrumental=off`.
 * - A `--` alone ends the options: what follows is text.
 * - `—name` is what phones make of `--name`, and is read as such when there is an option of that name.
 *
 * The bot checks the values, and says which names it does not know. Throws UserError when an option is given twice, or
 * when there is text and no option that takes it.
 */
export function parseCommandLine(text: string, declarations: OptionDeclarations): RawOptions {
  const options = new Map<string, OptionValue>();
  const give = (name: string, value: OptionValue) => {
    if (options.has(name)) throw new UserError(`The option “${name}” is given twice.`, name);
    options.set(name, value);
  };
  const loose: string[] = [];
  let rest = text;
  for (let mark = nextMark(rest, declarations); mark; mark = nextMark(rest, declarations)) {
    loose.push(rest.slice(0, mark.start));
    rest = rest.slice(mark.end);
    if (mark.name === undefined) break;
    const { value, remainder } = takeValue(rest, mark, declarations);
    give(mark.name, value);
    rest = remainder;
  }
  const typed = [...loose, rest]
    .map((part) => part.trim())
    .filter(Boolean)
    .join(' ');
  if (typed !== '') give(firstText(declarations), typed);
  return Object.fromEntries(options);
}

function firstText(declarations: OptionDeclarations): string {
  const [name] = Object.entries(declarations).find(([, { type }]) => type === 'text') ?? [];
  if (name !== undefined) return name;
  const known = Object.keys(declarations).map((option) => `--${option}`);
  throw new UserError(
    known.length > 0
      ? `This command takes no text, only options: ${known.join(', ')}.`
      : 'This command takes nothing behind its name.',
  );
}

/** Where an option begins, or, without a name, where all options end. */
interface Mark {
  readonly name: string | undefined;
  readonly start: number;
  /** Behind the name and its `=`. */
  readonly end: number;
  readonly assigned: boolean;
}

const MARKS = /(?<=^|\s)(?<dashes>--|[—–])(?:(?<name>[a-z][\w-]*)(?<equals>=?)|(?=\s|$))/gi;

function nextMark(text: string, declarations: OptionDeclarations): Mark | undefined {
  for (const { 0: whole, index, groups } of text.matchAll(MARKS)) {
    const name = groups?.name?.toLowerCase();
    // A lone dash, and one before a word that names no option, is punctuation.
    if (groups?.dashes !== '--' && (name === undefined || !Object.hasOwn(declarations, name))) continue;
    return { name, start: index, end: index + whole.length, assigned: groups?.equals === '=' };
  }
  return undefined;
}

interface TakenValue {
  readonly value: OptionValue;
  readonly remainder: string;
}

function takeValue(
  text: string,
  { name = '', assigned }: Mark,
  declarations: OptionDeclarations,
): TakenValue {
  const type: OptionDeclaration['type'] = Object.hasOwn(declarations, name)
    ? (declarations[name]?.type ?? 'text')
    : 'text';
  if (type === 'flag' && !assigned) return { value: true, remainder: text };
  const quoted = /^\s*(?:"([^"]*)"|“([^”]*)”|'([^']*)')(?=\s|$)/.exec(text);
  if (quoted) {
    const value = quoted[1] ?? quoted[2] ?? quoted[3] ?? '';
    return { value: type === 'file' ? fileAt(value) : value, remainder: text.slice(quoted[0].length) };
  }
  const end = nextMark(text, declarations)?.start ?? text.length;
  if (type === 'text') return { value: text.slice(0, end).trim(), remainder: text.slice(end) };
  const word = /^\s*(\S*)/.exec(text.slice(0, end));
  const value = word?.[1] ?? '';
  return { value: type === 'file' ? fileAt(value) : value, remainder: text.slice(word?.[0].length) };
}

/** Files cannot be typed, but their addresses can. Anything else stays text, which the bot refuses with a sentence. */
function fileAt(address: string): OptionValue {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return address;
  const { href, pathname } = new URL(address);
  return { name: pathname.split('/').at(-1) || 'file', url: href };
}
