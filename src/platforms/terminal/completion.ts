/** What Tab does. */
import type { Bot } from '../platform.ts';
import { HERE, YOU } from './person.ts';
import { typedCommand } from './typed-command.ts';

/** Completes names of commands, parts and options, choices, and what an option suggests. */
export async function complete(line: string, bot: Bot): Promise<[candidates: string[], typed: string]> {
  const matching = (candidates: readonly string[], typed: string): [string[], string] => [
    candidates.filter((candidate) => candidate.startsWith(typed)),
    typed,
  ];
  if (/^\/\S*$/.test(line))
    return matching(
      bot.commands.map((command) => `/${command.name} `),
      line,
    );
  const typed = typedCommand(line, bot.commands);
  if (!typed) return [[], line];

  const word = /\S*$/.exec(typed.text)?.[0] ?? '';
  if (word.startsWith('-'))
    return matching(
      Object.keys(typed.options).map((option) => `--${option} `),
      word,
    );

  const [, name = '', value = ''] = /--([\w-]+)[ =]([^\n]*)$/.exec(typed.text) ?? [];
  const option = Object.hasOwn(typed.options, name) ? typed.options[name] : undefined;
  if (option?.type === 'choice')
    return matching(
      option.choices.map((choice) => choice.value),
      value,
    );
  if (option?.type === 'text' && option.suggest) {
    const choices = await bot.suggest({
      command: typed.command,
      ...(typed.subcommand !== undefined && { subcommand: typed.subcommand }),
      option: name,
      typed: value,
      address: HERE,
      person: YOU,
    });
    return [choices.map((choice) => choice.value), value];
  }
  const command = bot.commands.find((candidate) => candidate.name === typed.command);
  if (typed.subcommand === undefined && typed.text === word)
    return matching(
      Object.keys(command?.subcommands ?? {}).map((part) => `${part} `),
      word,
    );
  return [[], word];
}
