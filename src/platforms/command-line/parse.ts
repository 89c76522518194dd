/** What somebody typed behind a command, as options: `a tune for rain --style dark lofi --instrumental`. */
import type { OptionDeclaration, OptionDeclarations, OptionValue, RawOptions } from '../../command.ts';
import { UserError } from '../../errors.ts';
import { byPlace, joined, type Word } from './free-words.ts';
import { nearest } from './nearest.ts';
import { type Token, tokenize } from './tokens.ts';
import { example, typedFlag, typedValue } from './values.ts';

export interface TypedFor {
  /** As people type it, without the slash: `song`, `models set`. */
  readonly name: string;
  readonly options: OptionDeclarations;
  /** Words without a flag may stand for choices and numbers by their place. */
  readonly positional?: boolean;
  /** The sentence that says how to give a file here. */
  readonly wayToGiveFile?: string;
}

/**
 * Reads options by the command's declaration. Text without a flag goes to the first text option. Before that text a
 * flag takes one word or one quotation; behind it, a text flag takes everything up to the next flag. A `--` alone ends
 * the flags. Throws UserError, whose sentence names the problem and the way out, and nothing else.
 */
export function parseOptions(command: TypedFor, text: string): RawOptions {
  const reader = new OptionReader(command, text);
  const tokens = tokenize(text, (name) => reader.knows(name));
  for (let index = 0; index < tokens.length; ) index = reader.read(tokens, index);
  return reader.finish();
}

class OptionReader {
  readonly #command: TypedFor;
  readonly #text: string;
  readonly #values = new Map<string, OptionValue>();
  /** Words that belong to no flag. */
  readonly #free: Word[] = [];

  constructor(command: TypedFor, text: string) {
    this.#command = command;
    this.#text = text;
  }

  knows(flag: string): boolean {
    return this.#find(flag) !== undefined;
  }

  /** Reads the token at `index`, and those that are its value; returns where to go on. */
  read(tokens: readonly Token[], index: number): number {
    const token = tokens[index];
    if (token === undefined) return index + 1;
    if (token.type === 'word') {
      this.#free.push(token);
      return index + 1;
    }
    const found = this.#find(token.name);
    if (found === undefined) throw this.#unknown(token.name);
    const { name, option, negated } = found;
    if (negated || option.type === 'flag') {
      this.#set(name, typedFlag(name, token.value) !== negated);
      return index + 1;
    }
    if (token.value !== undefined) {
      this.#set(name, this.#value(name, option, token.value));
      return index + 1;
    }
    const first = tokens[index + 1];
    if (first?.type !== 'word')
      throw new UserError(`--${name} needs a value, for example --${name} ${example(option)}.`, name);
    let last = index + 1;
    let lastWord = first;
    if (option.type === 'text' && !option.mention && this.#free.length > 0) {
      for (let next = tokens[last + 1]; next?.type === 'word'; next = tokens[last + 1]) {
        lastWord = next;
        last += 1;
      }
    }
    const value = first === lastWord ? first.value : this.#text.slice(first.from, lastWord.to);
    this.#set(name, this.#value(name, option, value));
    return last + 1;
  }

  finish(): RawOptions {
    const { options } = this.#command;
    let words: readonly Word[] = this.#free;
    if (this.#command.positional) {
      const left = Object.entries(options).filter(([name]) => !this.#values.has(name));
      const placed = byPlace(words, left);
      for (const { name, word } of placed.given) {
        const option = options[name];
        if (option) this.#set(name, this.#value(name, option, word.value));
      }
      words = placed.rest;
    }
    const free = joined(words, this.#text);
    if (free !== '') {
      const [name] = Object.entries(options).find(([, { type }]) => type === 'text') ?? [];
      if (name === undefined) throw this.#takesNoText(words);
      this.#set(name, free);
    }
    return Object.fromEntries(this.#values);
  }

  #value(name: string, option: OptionDeclaration, typed: string): OptionValue {
    const { wayToGiveFile = '' } = this.#command;
    return typedValue(name, option, typed, wayToGiveFile);
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

  /** Names the choices that a word in this place could have been. */
  #takesNoText([first]: readonly Word[]): UserError {
    const [name, option] =
      Object.entries(this.#command.options).find(
        ([known, { type }]) => type === 'choice' && !this.#values.has(known),
      ) ?? [];
    if (this.#command.positional && first && name !== undefined && option?.type === 'choice') {
      const values = option.choices.map(({ value }) => value);
      return new UserError(`“${first.value}” is no ${name}. Choose one of ${values.join(', ')}.`, name);
    }
    const flags = this.#flags();
    return new UserError(
      flags === ''
        ? `/${this.#command.name} takes no text.`
        : `/${this.#command.name} takes no text, only ${flags}.`,
    );
  }

  #unknown(flag: string): UserError {
    const names = Object.keys(this.#command.options);
    if (names.length === 0)
      return new UserError(`/${this.#command.name} has no options, so --${flag} means nothing here.`);
    const near = nearest(flag, names);
    const hint = near === undefined ? `There are ${this.#flags()}.` : `Did you mean --${near}?`;
    return new UserError(`/${this.#command.name} has no option --${flag}. ${hint}`);
  }

  #flags(): string {
    return Object.keys(this.#command.options)
      .map((name) => `--${name}`)
      .join(', ');
  }
}
