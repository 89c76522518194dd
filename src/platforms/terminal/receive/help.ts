/** What a person at the prompt can type: help, and completion by the Tab key. */
import type { AnyCommand } from '../../../core/command.ts';
import { UserError } from '../../../core/errors.ts';
import type { SuggestRequest } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import type { Choice, OptionDeclaration, RawOptions } from '../../../core/options.ts';
import { type CommandLine, commandHelp, readLine, typedOptions } from '../../shared/command-line.ts';
import { typedChoice } from '../../shared/values.ts';

/** All commands, or one with its options. */
export function help(commands: readonly AnyCommand[], name: string | undefined): Message {
  const command = commands.find((candidate) => candidate.name === name);
  if (command) return commandHelp(command);
  return {
    title: 'What you can type',
    text: [
      ...commands.map((each) => `- **/${each.name}** ${plain(each.description)}`),
      '- **a number** presses the button of that number',
      '- **help** and a command’s name tells its options, the Tab key completes what is typed, **exit** ends',
    ].join('\n'),
  };
}

/** Candidates, and the text that they replace. */
export type Completion = [candidates: string[], typed: string];

/** The candidates that begin as the text does. */
export function matching(candidates: readonly string[], typed: string): Completion {
  const begun = typed.toLowerCase();
  return [candidates.filter((candidate) => candidate.toLowerCase().startsWith(begun)), typed];
}

/** Completes names of commands, subcommands and options, choices, and what an option suggests. */
export async function complete(
  line: string,
  commands: readonly AnyCommand[],
  suggest: (request: Omit<SuggestRequest, 'address' | 'person'>) => Promise<readonly Choice[]>,
): Promise<Completion> {
  if (/^\/\S*$/.test(line)) {
    const names = commands.map(({ name }) => `/${name} `);
    return matching(names, line);
  }
  const found = readLine(line, commands);
  if (!found) return [[], line];
  const { command, subcommand, options, text } = found;

  const word = /\S*$/.exec(text)?.[0] ?? '';
  const flags = Object.keys(options).map((option) => `--${option} `);
  if (word.startsWith('-')) return matching(flags, word);
  const [, before = '', name = '', value = ''] = /^(|[^\n]*\s)--([\w-]+)[ =]([^\n]*)$/.exec(text) ?? [];
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option?.type === 'choice' && !/\s/.test(value)) return matching(option.choices.map(typedChoice), value);
  if (option?.type === 'text' && option.autocomplete) {
    const others = optionsOf(found.command, { ...found, text: before });
    const request = { command: command.name, option: name, typed: value, options: others };
    const choices = await suggest(subcommand === undefined ? request : { ...request, subcommand });
    return [choices.map((choice) => choice.value), value];
  }
  const parts = Object.keys(command.subcommands ?? {}).map((part) => `${part} `);
  if (subcommand === undefined && text === word && parts.length > 0) return matching(parts, word);
  // Subcommands take choices by their position, without a flag.
  const choices = subcommand === undefined ? [] : Object.values(options).flatMap(choicesOf);
  return matching(word === '' ? [...choices, ...flags] : choices, word);
}

const choicesOf = (option: OptionDeclaration): string[] =>
  option.type === 'choice' ? option.choices.map((choice) => `${typedChoice(choice)} `) : [];

/** What was typed before the option that is completed; nothing of it while a part cannot be understood. */
function optionsOf(command: AnyCommand, line: CommandLine): RawOptions {
  try {
    return typedOptions(command, line, '');
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}
