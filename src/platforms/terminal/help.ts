/** What a person at the prompt is told about commands. */
import type { AnyCommand, OptionDeclarations } from '../../command.ts';
import { type Message, plain } from '../../message.ts';

/** All commands, or one with its options. */
export function help(commands: readonly AnyCommand[], name: string | undefined): Message {
  const command = commands.find((candidate) => candidate.name === name);
  if (!command)
    return {
      title: 'What you can type',
      text: [
        ...commands.map((each) => `- **/${each.name}** ${plain(each.description)}`),
        '- **a number** presses the button of that number',
        '- **help** and a command’s name tells its options, **exit** ends',
      ].join('\n'),
    };
  const parts = Object.entries(command.subcommands ?? {}).flatMap(([part, { description, options }]) => [
    '',
    `**/${command.name} ${part}** ${plain(description)}`,
    '',
    ...optionLines(options),
  ]);
  return {
    title: `/${command.name}`,
    text: [plain(command.description), '', ...optionLines(command.options), ...parts].join('\n'),
  };
}

function optionLines(options: OptionDeclarations): string[] {
  return Object.entries(options).map(
    ([name, { description, required }]) =>
      `- **${plain(`--${name}`)}** ${plain(description)}${required ? ' (needed)' : ''}`,
  );
}
