/** Command declarations in Slack's terms: a server is a workspace. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { OptionDeclaration, OptionDeclarations } from '../../core/options.ts';

/** Replaces Discord's terms in a command's texts. Values of choices stay the same. */
export function withSlackTerms(command: AnyCommand): AnyCommand {
  const { subcommands } = command;
  if (subcommands === undefined) return withTerms(command);
  const entries = Object.entries(subcommands).map(
    ([name, subcommand]) => [name, withTerms(subcommand)] as const,
  );
  return { ...withTerms(command), subcommands: Object.fromEntries(entries) };
}

function withTerms<
  Declaration extends { readonly description: string; readonly options: OptionDeclarations },
>(declaration: Declaration): Declaration {
  const options = Object.entries(declaration.options).map(
    ([name, option]) => [name, optionWithSlackTerms(option)] as const,
  );
  return {
    ...declaration,
    description: replaceTerms(declaration.description),
    options: Object.fromEntries(options),
  };
}

export function optionWithSlackTerms(option: OptionDeclaration): OptionDeclaration {
  const description = replaceTerms(option.description);
  if (option.type !== 'choice') return { ...option, description };
  const choices = option.choices.map((choice) => ({ ...choice, name: replaceTerms(choice.name) }));
  return { ...option, description, choices };
}

const replaceTerms = (text: string): string => text.replace(/\bserver\b/g, 'workspace');
