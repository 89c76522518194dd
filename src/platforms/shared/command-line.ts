/** Parses typed commands such as `/models set ask some-model`. */
import { type AnyCommand, type Subcommand, subcommandOf } from '../../core/bot/command.ts';
import { UserError } from '../../core/errors.ts';
import { type Message, plain } from '../../core/message.ts';
import type { OptionDeclaration, OptionDeclarations, RawOptions } from '../../core/options.ts';
import { nearest } from '../../core/util/nearest.ts';
import { own } from '../../core/util/own.ts';
import { parseOptions } from './parse.ts';
import type { Target } from './target.ts';
import { typedChoice } from './values.ts';

export interface CommandLine {
  /** As people type it, without the slash: `song`, `models set`. */
  readonly name: string;
  readonly subcommand: string | undefined;
  readonly description: string;
  readonly options: OptionDeclarations;
  /** See {@link Subcommand.asks}. */
  readonly asks?: true;
  /** See {@link Subcommand.needsOption}. */
  readonly needsOption?: true | undefined;
  /** The text after the name. */
  readonly text: string;
  /** True if only a question mark follows the name. It opens the form, or help on platforms without forms. */
  readonly hasQuestionMark: boolean;
}

/** Reads `/name text` and `/name subcommand text`; undefined if the command does not exist. */
export function readLine(
  line: string,
  commands: readonly AnyCommand[],
): (CommandLine & { readonly command: AnyCommand }) | undefined {
  const [, name = '', text = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  return command && { command, ...readCommandLine(command, text) };
}

/** Like {@link readLine}, but throws a UserError that suggests the closest name. */
export function readKnownLine(
  line: string,
  commands: readonly AnyCommand[],
): NonNullable<ReturnType<typeof readLine>> {
  const found = readLine(line, commands);
  if (found) return found;
  const [, name = ''] = /^\/(\S*)/.exec(line) ?? [];
  const near = nearest(
    name,
    commands.map((command) => command.name),
  );
  const hint = near === undefined ? 'Use /minstrel help to see all commands.' : `Did you mean /${near}?`;
  throw new UserError(`I don't know /${name}. ${hint}`);
}

/** The command or subcommand with these names; undefined if it does not exist. */
export function declarationOf(
  { command: named, subcommand }: Pick<Target, 'command' | 'subcommand'>,
  commands: readonly AnyCommand[],
): Pick<Subcommand, 'description' | 'options'> | undefined {
  const command = commands.find(({ name }) => name === named);
  return subcommand === undefined || command === undefined ? command : subcommandOf(command, subcommand);
}

/** Whether a typed command opens its form: a question mark follows it, or nothing although it needs an option. */
export function opensForm({ subcommands }: AnyCommand, line: CommandLine): boolean {
  const { subcommand, options, asks, needsOption, text, hasQuestionMark } = line;
  const declared = Object.values(options);
  if (text.trim() !== '' || asks || declared.length === 0) return false;
  const isWhole = subcommands === undefined || subcommand !== undefined;
  const isIncomplete = needsOption || declared.some(({ required }) => required);
  return hasQuestionMark || (isWhole && isIncomplete);
}

/** Reads the subcommand's name, if the text after the command starts with one. */
export function readCommandLine(command: AnyCommand, typed: string): CommandLine {
  const { name, description, options, needsOption, subcommands = {} } = command;
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(typed.trimStart()) ?? [];
  const subcommand = word.toLowerCase();
  const part = own(subcommands, subcommand);
  const remainder = part === undefined ? typed.trimStart() : rest;
  const hasQuestionMark = remainder.trim() === '?';
  const text = hasQuestionMark ? '' : remainder;
  return part === undefined
    ? { name, subcommand: undefined, description, options, needsOption, text, hasQuestionMark }
    : { ...part, name: `${name} ${subcommand}`, subcommand, text, hasQuestionMark };
}

/** Help for a command, if its text is only `help` or `--help`. */
export function requestedHelp(command: AnyCommand, { text, options }: CommandLine): Message | undefined {
  const asks = /^(?:--|[—–])?help$/i.test(text.trim()) && !Object.hasOwn(options, 'help');
  return asks ? commandHelp(command) : undefined;
}

/** Describes a command with its options and subcommands. */
export function commandHelp({ name, description, options, subcommands = {} }: AnyCommand): Message {
  const parts = Object.entries(subcommands).flatMap(([part, declared]) => [
    '',
    `**/${name} ${part}** ${plain(declared.description)}`,
    '',
    ...optionLines(declared.options),
  ]);
  return { title: `/${name}`, text: [plain(description), '', ...optionLines(options), ...parts].join('\n') };
}

function optionLines(options: OptionDeclarations): string[] {
  return Object.entries(options).map(([name, option]) => `- ${optionHelp(name, option)}`);
}

/** Describes an option as Markdown, listing choices as people type them. */
export function optionHelp(name: string, option: OptionDeclaration): string {
  const { description, required, type } = option;
  const choices = type === 'choice' ? `: ${option.choices.map(typedChoice).join(', ')}` : '';
  return `**${plain(`--${name}`)}** ${plain(`${description}${choices}`)}${required ? ' (required)' : ''}`;
}

/**
 * Parses the typed options. `fileHint` explains how to attach a file on this platform. Throws UserError like
 * {@link parseOptions}, and for an unknown subcommand.
 */
export function typedOptions(command: AnyCommand, line: CommandLine, fileHint: string): RawOptions {
  const positional = line.subcommand !== undefined;
  if (!positional) rejectUnknownSubcommand(command, line.text);
  return parseOptions({ name: line.name, options: line.options, positional, fileHint }, line.text);
}

/** Rejects an unknown first word if the command has subcommands and no text option. */
function rejectUnknownSubcommand({ name, options, subcommands }: AnyCommand, text: string): void {
  const known = Object.keys(subcommands ?? {});
  const takesText = Object.values(options).some(({ type }) => type === 'text');
  const [word = ''] = text.split(/\s/, 1);
  if (known.length === 0 || takesText || word === '' || /^[-—–]/.test(word)) return;
  const near = nearest(word, known);
  throw new UserError(
    `/${name} has no subcommand “${word}”. ${near === undefined ? `Choose one of: ${known.join(', ')}.` : `Did you mean /${name} ${near}?`}`,
  );
}
