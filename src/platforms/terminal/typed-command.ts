/** Which command a typed line is for. */
import type { AnyCommand, OptionDeclarations } from '../../command.ts';
import { nearest } from '../command-line/nearest.ts';
import { typedPart } from '../command-line/typed-command.ts';

export interface TypedCommand {
  readonly command: string;
  readonly subcommand?: string;
  readonly description: string;
  readonly options: OptionDeclarations;
  /** What stands behind the names. */
  readonly text: string;
}

/** Reads `/name text` and `/name part text`; undefined when there is no command of that name. */
export function typedCommand(line: string, commands: readonly AnyCommand[]): TypedCommand | undefined {
  const [, name = '', text = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) return undefined;
  const { subcommand, ...part } = typedPart(command, text);
  if (subcommand === undefined) return { command: name, description: command.description, ...part };
  const description = command.subcommands?.[subcommand]?.description ?? command.description;
  return { command: name, subcommand, description, ...part };
}

/** The sentence for a line that {@link typedCommand} does not know. */
export function unknownCommand(line: string, commands: readonly AnyCommand[]): string {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const names = commands.map((command) => command.name);
  const near = nearest(name, names);
  if (near !== undefined) return `There is no command /${name}. Did you mean /${near}?`;
  return `There is no command /${name}. Commands: ${names.map((known) => `/${known}`).join(' ')}`;
}
