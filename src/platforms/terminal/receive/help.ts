/** What a person at the prompt can type: help, and completion by the Tab key. */
import type { AnyCommand } from '../../../core/bot/command.ts';
import { type Message, plain } from '../../../core/message.ts';
import { commandHelp } from '../../shared/command-line.ts';
import { type CompletionSources, completeLine } from '../../shared/completion.ts';

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

/** Completes what is typed, as readline asks for it. */
export async function complete(line: string, sources: CompletionSources): Promise<Completion> {
  const { candidates, typed } = await completeLine(line, sources);
  return [candidates.map(({ value }) => value), typed];
}
