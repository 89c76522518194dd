/** Forms of commands, and which command a sent form belongs to. */
import type { AnyCommand, Form, Invocation, OptionDeclarations, RawOptions } from '../../command.ts';
import { actionOf } from './invocations.ts';

/** The form of a command, or of a part of it. */
export function commandForm(
  command: AnyCommand,
  { subcommand, initial = {} }: { subcommand?: string | undefined; initial?: RawOptions | undefined },
): Form {
  const name = subcommand === undefined ? command.name : `${command.name} ${subcommand}`;
  return {
    id: name,
    title: name.charAt(0).toUpperCase() + name.slice(1),
    submitLabel: 'Go',
    options: optionsOf(command, subcommand),
    initial,
  };
}

export function optionsOf(command: AnyCommand, subcommand: string | undefined): OptionDeclarations {
  return (
    (subcommand === undefined ? undefined : command.subcommands?.[subcommand]?.options) ?? command.options
  );
}

/** What a form's id says: an action, or a command with its part. */
export function formTarget(id: string): Pick<Invocation, 'command' | 'subcommand' | 'action'> {
  const target = actionOf(id);
  if (target !== undefined) return { ...target, action: { ...target.action, sent: true } };
  const [command = id, subcommand] = id.split(' ');
  return { command, ...(subcommand === undefined ? {} : { subcommand }) };
}
