/** Parses the text after a command into options: `a tune for rain --style dark lofi --instrumental`. */
import { UserError } from '../../core/errors.ts';
import {
  type OptionDeclaration,
  type OptionDeclarations,
  type OptionValue,
  type RawOptions,
  readOption,
} from '../../core/options.ts';
import { nearest } from '../../core/util/nearest.ts';
import { type Token, tokenize } from './tokens.ts';
import { example, fits, typedChoice, typedValue } from './values.ts';

type Word = Extract<Token, { type: 'word' }>;

interface ParsedCommand {
  /** As people type it, without the slash: `song`, `models set`. */
  readonly name: string;
  readonly options: OptionDeclarations;
  /** True if words without a flag may be choices and numbers, by position. */
  readonly positional?: boolean;
  /** A sentence that explains how to attach a file on this platform. */
  readonly fileHint?: string;
}

/**
 * Reads options by the command's declaration. Text without a flag goes to the first text option. Before that text, a flag takes
 * one word or quotation. After it, a text flag takes everything up to the next flag, like Discord's `style:dark lofi`. A `--`
 * alone ends the flags. Throws only UserError.
 */
export function parseOptions(command: ParsedCommand, text: string): RawOptions {
  const { options, positional = false, fileHint = '' } = command;
  const values = new Map<string, OptionValue>();
  const set = (name: string, value: OptionValue): void => {
    if (values.has(name)) throw new UserError(`You used --${name} twice. Use it once.`, name);
    values.set(name, value);
  };
  const setTyped = (name: string, option: OptionDeclaration, typed: string): void =>
    set(name, typedValue(name, option, typed, fileHint));

  let free: Word[] = [];
  const findOption = optionFinder(options);
  const tokens = tokenize(text, (name) => findOption(name) !== undefined);
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.type !== 'flag') {
      if (token) free.push(token);
      continue;
    }
    const found = findOption(token.name);
    if (found === undefined) throw unknownOption(command, token.name);
    const { name, option, negated } = found;
    const [next] = token.named ? wordsFrom(tokens, index + 1, 1) : [];
    if (negated || option.type === 'flag') {
      set(name, readOption(name, next?.value ?? token.value ?? true, option) !== negated);
      if (next) index += 1;
    } else if (token.value !== undefined) setTyped(name, option, token.value);
    else {
      const takesMore = option.type === 'text' && !option.mention && (token.named || free.length > 0);
      const words = wordsFrom(tokens, index + 1, takesMore ? tokens.length : 1);
      const [first] = words;
      if (first === undefined)
        throw new UserError(`--${name} needs a value, for example --${name} ${example(option)}.`, name);
      setTyped(name, option, words.length === 1 ? first.value : joined(words, text));
      index += words.length;
    }
  }

  if (positional) {
    const unset = Object.entries(options).filter(([name]) => !values.has(name));
    const { assigned, rest } = assignByPosition(free, unset);
    for (const { name, option, word } of assigned) setTyped(name, option, word);
    free = rest;
  }
  if (!Object.values(options).some(({ type }) => type === 'text')) {
    // Without a text option, a word that names a switch can only mean the switch: `/jobs all`.
    free = free.filter(({ value }) => {
      const found = findOption(value);
      if (found?.option.type !== 'flag') return true;
      set(found.name, !found.negated);
      return false;
    });
  }
  const words = unquoted(joined(free, text).trim());
  if (words !== '') {
    const [name] = Object.entries(options).find(([, { type }]) => type === 'text') ?? [];
    if (name === undefined) throw unexpectedText(command, values, free);
    set(name, words);
  }
  return Object.fromEntries(values);
}

interface FoundOption {
  readonly name: string;
  readonly option: OptionDeclaration;
  readonly negated: boolean;
}

/** Creates a case-insensitive lookup, fast enough to call for each word of a text. */
function optionFinder(options: OptionDeclarations): (typedName: string) => FoundOption | undefined {
  const byName = new Map<string, FoundOption>();
  for (const [name, option] of Object.entries(options).reverse()) {
    if (option.type === 'flag') byName.set(`no-${name.toLowerCase()}`, { name, option, negated: true });
    byName.set(name.toLowerCase(), { name, option, negated: false });
  }
  return (typedName) => byName.get(typedName.toLowerCase());
}

function wordsFrom(tokens: readonly Token[], start: number, max: number): Word[] {
  const words: Word[] = [];
  for (const token of tokens.slice(start, start + max)) {
    if (token.type !== 'word') break;
    words.push(token);
  }
  return words;
}

/**
 * Assigns words by position: `/models set ask some model channel`. Options before the first text option take words from the start,
 * options after it take words from the end, if they fit. Multiline text keeps all its words.
 */
function assignByPosition(words: readonly Word[], unset: readonly (readonly [string, OptionDeclaration])[]) {
  const text = unset.findIndex(([, option]) => option.type === 'text' && !option.mention);
  const [, textOption] = unset[text] ?? [];
  const isProse = textOption?.type === 'text' && textOption.multiline === true;
  const assigned: { name: string; option: OptionDeclaration; word: string }[] = [];
  const rest = [...words];
  for (const [name, option] of text < 0 ? unset : unset.slice(0, text)) {
    const [word] = rest;
    if (word === undefined || !fits(option, word.value)) continue;
    assigned.push({ name, option, word: word.value });
    rest.shift();
  }
  for (const [name, option] of text < 0 || isProse ? [] : unset.slice(text + 1).toReversed()) {
    const word = rest.at(-1);
    if (word === undefined || rest.length < 2 || !fits(option, word.value)) continue;
    assigned.push({ name, option, word: word.value });
    rest.pop();
  }
  return { assigned, rest };
}

/** Joins words, keeping the original space between neighbours. */
function joined(words: readonly Word[], text: string): string {
  const pieces: string[] = [];
  let from = words[0]?.from ?? 0;
  let to = from;
  for (const word of words) {
    if (text.slice(to, word.from).trim() !== '') {
      pieces.push(text.slice(from, to));
      from = word.from;
    }
    to = word.to;
  }
  return [...pieces, text.slice(from, to)].join(' ');
}

/** Removes the quotes if the whole text is one quotation. */
function unquoted(text: string): string {
  return (/^["“„]([^"“”„]*)["”]$/.exec(text)?.[1] ?? text).trim();
}

/** Lists the valid choices if the first word could have been one. */
function unexpectedText(
  { name: command, options, positional }: ParsedCommand,
  values: ReadonlyMap<string, OptionValue>,
  [first]: readonly Word[],
): UserError {
  const [name, option] =
    Object.entries(options).find(([optionName, { type }]) => type === 'choice' && !values.has(optionName)) ??
    [];
  if (positional && first && name !== undefined && option?.type === 'choice') {
    const choices = option.choices.map(typedChoice).join(', ');
    return new UserError(`“${first.value}” isn't valid for ${name}. Choose one of ${choices}.`, name);
  }
  const flags = flagsOf(options);
  return new UserError(`/${command} doesn't take text${flags === '' ? '' : `, only ${flags}`}.`);
}

function unknownOption({ name, options }: ParsedCommand, flag: string): UserError {
  const names = Object.keys(options);
  if (names.length === 0) return new UserError(`/${name} doesn't have options. Remove --${flag}.`);
  const near = nearest(flag, names);
  const hint = near === undefined ? `Its options are ${flagsOf(options)}.` : `Did you mean --${near}?`;
  return new UserError(`/${name} has no option --${flag}. ${hint}`);
}

function flagsOf(options: OptionDeclarations): string {
  return Object.keys(options)
    .map((name) => `--${name}`)
    .join(', ');
}
