/** Commands as people type them, such as `/models set ask some-model`. */
import type { AnyCommand, Subcommand } from '../../core/bot/command.ts';
import { UserError } from '../../core/errors.ts';
import { type Message, plain } from '../../core/message.ts';
import type { OptionDeclaration, OptionDeclarations, RawOptions } from '../../core/options.ts';
import { nearest } from '../../core/util/nearest.ts';
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
  /** The text behind the name. */
  readonly text: string;
  /** A question mark alone stands behind the name: it asks for the form, or for help where there are no forms. */
  readonly isAsked: boolean;
}

/** Reads `/name text` and `/name subcommand text`; undefined when there is no command of that name. */
export function readLine(
  line: string,
  commands: readonly AnyCommand[],
): (CommandLine & { readonly command: AnyCommand }) | undefined {
  const [, name = '', text = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  return command && { command, ...readCommandLine(command, text) };
}

/** Like {@link readLine}. Throws UserError, with the name that was probably meant. */
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
  const hint = near === undefined ? 'Use /minstrel to see all commands.' : `Did you mean /${near}?`;
  throw new UserError(`I don't know /${name}. ${hint}`);
}

/** The command or subcommand of these names; undefined where there is none. */
export function declarationOf(
  { command: named, subcommand }: Pick<Target, 'command' | 'subcommand'>,
  commands: readonly AnyCommand[],
): Pick<Subcommand, 'description' | 'options'> | undefined {
  const command = commands.find(({ name }) => name === named);
  return subcommand === undefined ? command : command?.subcommands?.[subcommand];
}

/** Whether a typed command opens its form: it stands alone, or before a question mark, and has options to fill. */
export function opensForm({ subcommands }: AnyCommand, line: CommandLine): boolean {
  const { subcommand, options, asks, text, isAsked } = line;
  const isWhole = subcommands === undefined || subcommand !== undefined;
  return text.trim() === '' && (isWhole || isAsked) && !asks && Object.keys(options).length > 0;
}

/** Reads the name of a subcommand, if the text behind a command begins with one. */
export function readCommandLine(command: AnyCommand, typed: string): CommandLine {
  const { name, description, options, subcommands = {} } = command;
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(typed.trimStart()) ?? [];
  const subcommand = word.toLowerCase();
  const part = Object.hasOwn(subcommands, subcommand) ? subcommands[subcommand] : undefined;
  const behind = part === undefined ? typed.trimStart() : rest;
  const isAsked = behind.trim() === '?';
  const text = isAsked ? '' : behind;
  return part === undefined
    ? { name, subcommand: undefined, description, options, text, isAsked }
    : { ...part, name: `${name} ${subcommand}`, subcommand, text, isAsked };
}

/** Help for a command where its text is nothing but `help` or `--help`; undefined elsewhere. It costs nothing. */
export function askedHelp(command: AnyCommand, { text, options }: CommandLine): Message | undefined {
  const asks = /^(?:--|[—–])?help$/i.test(text.trim()) && !Object.hasOwn(options, 'help');
  return asks ? commandHelp(command) : undefined;
}

/** A command with its options, and those of its parts. */
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

/** What an option takes, as Markdown: choices in the words that people type. */
export function optionHelp(name: string, option: OptionDeclaration): string {
  const { description, required, type } = option;
  const choices = type === 'choice' ? `: ${option.choices.map(typedChoice).join(', ')}` : '';
  return `**${plain(`--${name}`)}** ${plain(`${description}${choices}`)}${required ? ' (required)' : ''}`;
}

/**
 * The options that were typed. `fileHint` says how to give a file on this platform. Throws UserError like
 * {@link parseOptions}, and for a subcommand that does not exist.
 */
export function typedOptions(command: AnyCommand, line: CommandLine, fileHint: string): RawOptions {
  const positional = line.subcommand !== undefined;
  if (!positional) refuseUnknownSubcommand(command, line.text);
  return parseOptions({ name: line.name, options: line.options, positional, fileHint }, line.text);
}

/** A command with subcommands and without a text option takes no other word. */
function refuseUnknownSubcommand({ name, options, subcommands }: AnyCommand, text: string): void {
  const known = Object.keys(subcommands ?? {});
  const takesText = Object.values(options).some(({ type }) => type === 'text');
  const [word = ''] = text.split(/\s/, 1);
  if (known.length === 0 || takesText || word === '' || /^[-—–]/.test(word)) return;
  const near = nearest(word, known);
  throw new UserError(
    `/${name} has no subcommand “${word}”. ${near === undefined ? `Choose one of ${known.join(', ')}.` : `Did you mean /${name} ${near}?`}`,
  );
}
