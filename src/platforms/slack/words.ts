/** The bot's own declarations in the words of Slack, where a server is a workspace. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { OptionDeclaration, OptionDeclarations } from '../../core/options.ts';

/** The command as people on Slack read and type it. What they choose keeps its value. */
export function inSlackWords(command: AnyCommand): AnyCommand {
  const { subcommands } = command;
  if (subcommands === undefined) return worded(command);
  const parts = Object.entries(subcommands).map(([name, part]) => [name, worded(part)] as const);
  return { ...worded(command), subcommands: Object.fromEntries(parts) };
}

function worded<Declared extends { readonly description: string; readonly options: OptionDeclarations }>(
  declared: Declared,
): Declared {
  const options = Object.entries(declared.options).map(
    ([name, option]) => [name, optionInSlackWords(option)] as const,
  );
  return { ...declared, description: inWords(declared.description), options: Object.fromEntries(options) };
}

export function optionInSlackWords(option: OptionDeclaration): OptionDeclaration {
  const description = inWords(option.description);
  if (option.type !== 'choice') return { ...option, description };
  const choices = option.choices.map(({ name, value }) => ({ name: inWords(name), value }));
  return { ...option, description, choices };
}

const inWords = (text: string): string => text.replace(/\bserver\b/g, 'workspace');
