/** Which command a typed line is for. */
import { closest, distance } from 'fastest-levenshtein';
import type { AnyCommand, OptionDeclarations } from '../../command.ts';

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
  const [, part = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  const subcommand = Object.entries(command.subcommands ?? {}).find(([known]) => known === part)?.[1];
  if (!subcommand) return { command: name, description: command.description, options: command.options, text };
  const { description, options } = subcommand;
  return { command: name, subcommand: part, description, options, text: rest };
}

/** The sentence for a line that {@link typedCommand} does not know. */
export function unknownCommand(line: string, commands: readonly AnyCommand[]): string {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const names = commands.map((command) => command.name);
  const near = names.length > 0 ? closest(name, names) : '';
  if (distance(name, near) <= 2) return `There is no command /${name}. Did you mean /${near}?`;
  return `There is no command /${name}. Commands: ${names.map((known) => `/${known}`).join(' ')}`;
}
