/** `/song a tune for rain --style lofi --instrumental`: what was typed behind a command, as options. */
import type { AnyCommand, OptionDeclaration, OptionValue, RawOptions } from '../../command.ts';
import { UserError } from '../../errors.ts';
import { nearest } from './nearest.ts';
import { type Token, tokenize } from './tokens.ts';

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

/**
 * Reads options by the command's declaration. Text without a flag goes to the first text option. Before that text a
 * flag takes one word or one quotation; behind it, a text flag takes everything up to the next flag.
 * `text` is unescaped already. Throws UserError, whose sentence names the problem and the way out, and nothing else.
 */
export function parseOptions(command: Pick<AnyCommand, 'name' | 'options'>, text: string): RawOptions {
  const reader = new OptionReader(command);
  const tokens = tokenize(text, (name) => reader.knows(name));
  for (let index = 0; index < tokens.length; ) index = reader.read(tokens, index, text);
  return reader.finish(text);
}

class OptionReader {
  readonly #command: Pick<AnyCommand, 'name' | 'options'>;
  readonly #values = new Map<string, OptionValue>();
  /** Stretches of the typed text that belong to no flag. */
  readonly #free: { from: number; to: number }[] = [];

  constructor(command: Pick<AnyCommand, 'name' | 'options'>) {
    this.#command = command;
  }

  knows(flag: string): boolean {
    return this.#find(flag) !== undefined;
  }

  /** Reads the token at `index`, and those that are its value; returns where to go on. */
  read(tokens: readonly Token[], index: number, text: string): number {
    const token = tokens[index];
    if (token === undefined) return index + 1;
    if (token.type === 'word') {
      this.#free.push({ from: token.from, to: token.to });
      return index + 1;
    }
    const found = this.#find(token.name);
    if (found === undefined) throw this.#unknown(token.name);
    const { name, option, negated } = found;
    if (negated || option.type === 'flag') {
      this.#set(name, flagValue(name, token.value) !== negated);
      return index + 1;
    }
    if (option.type === 'file') {
      throw new UserError(
        `A file cannot be typed. Send /${this.#command.name} alone: the form takes your file for “${name}”.`,
        name,
      );
    }
    if (token.value !== undefined) {
      this.#set(name, optionValue(name, option, token.value));
      return index + 1;
    }
    const first = tokens[index + 1];
    if (first?.type !== 'word')
      throw new UserError(`--${name} needs a value, for example --${name} ${example(option)}.`, name);
    let last = index + 1;
    let lastWord = first;
    if (option.type === 'text' && this.#free.length > 0) {
      for (let next = tokens[last + 1]; next?.type === 'word'; next = tokens[last + 1]) {
        lastWord = next;
        last += 1;
      }
    }
    const value = first === lastWord ? first.value : text.slice(first.from, lastWord.to);
    this.#set(name, optionValue(name, option, value));
    return last + 1;
  }

  finish(text: string): RawOptions {
    const free = freeText(this.#free, text);
    if (free !== '') {
      const [name, option] =
        Object.entries(this.#command.options).find(([, { type }]) => type === 'text') ?? [];
      if (name === undefined || option === undefined) {
        throw new UserError(`/${this.#command.name} takes no text, only ${this.#flags()}.`);
      }
      this.#set(name, free);
    }
    return Object.fromEntries(this.#values);
  }

  #find(flag: string): { name: string; option: OptionDeclaration; negated: boolean } | undefined {
    const wanted = flag.toLowerCase();
    for (const [name, option] of Object.entries(this.#command.options)) {
      if (name.toLowerCase() === wanted) return { name, option, negated: false };
      if (option.type === 'flag' && wanted === `no-${name.toLowerCase()}`)
        return { name, option, negated: true };
    }
    return undefined;
  }

  #set(name: string, value: OptionValue): void {
    if (this.#values.has(name)) throw new UserError(`“${name}” was given twice. Please give it once.`, name);
    this.#values.set(name, value);
  }

  #unknown(flag: string): UserError {
    const names = Object.keys(this.#command.options);
    const near = nearest(flag, names);
    if (names.length === 0)
      return new UserError(`/${this.#command.name} has no options, so --${flag} means nothing here.`);
    const hint = near === undefined ? `There are ${this.#flags()}.` : `Did you mean --${near}?`;
    return new UserError(`/${this.#command.name} has no option --${flag}. ${hint}`);
  }

  #flags(): string {
    const names = Object.keys(this.#command.options).map((name) => `--${name}`);
    return names.length === 0 ? 'nothing' : names.join(', ');
  }
}

function flagValue(name: string, typed: string | undefined): boolean {
  if (typed === undefined || YES.has(typed.toLowerCase())) return true;
  if (NO.has(typed.toLowerCase())) return false;
  throw new UserError(`--${name} is a switch: write --${name} or --no-${name}.`, name);
}

function optionValue(name: string, option: OptionDeclaration, typed: string): OptionValue {
  switch (option.type) {
    case 'choice': {
      const wanted = typed.toLowerCase();
      const found = option.choices.find(
        (choice) => choice.value.toLowerCase() === wanted || choice.name.toLowerCase() === wanted,
      );
      if (found !== undefined) return found.value;
      const values = option.choices.map(({ value }) => value);
      throw new UserError(`--${name} cannot be “${typed}”. Choose one of ${values.join(', ')}.`, name);
    }
    case 'number': {
      const number = Number(typed.replace(',', '.'));
      if (typed.trim() === '' || !Number.isFinite(number)) {
        throw new UserError(`--${name} has to be a number, not “${typed}”.`, name);
      }
      return number;
    }
    case 'text':
    case 'flag':
    case 'file':
      return typed;
    default:
      return option satisfies never;
  }
}

function example(option: OptionDeclaration): string {
  if (option.type === 'choice') return option.choices[0]?.value ?? 'value';
  if (option.type === 'number') return String(option.minimum ?? 1);
  return 'word, or --…="several words"';
}

/** Words that stood side by side keep the space between them as it was; one whole quotation loses its quotes. */
function freeText(stretches: readonly { from: number; to: number }[], text: string): string {
  const joined: string[] = [];
  let end: number | undefined;
  for (const { from, to } of stretches) {
    const between = end === undefined ? '' : text.slice(end, from);
    joined.push(/^\s*$/.test(between) ? between : ' ', text.slice(from, to));
    end = to;
  }
  const free = joined.join('').trim();
  const quoted = /^["“„]([^"“”„]*)["”]$/.exec(free);
  return (quoted?.[1] ?? free).trim();
}
