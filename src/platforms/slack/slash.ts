/** What a typed slash command asks for: a form, or an invocation. */
import type { AnyCommand, OptionDeclarations, RawOptions } from '../../command.ts';
import { typedOptions, typedPart } from '../command-line/typed-command.ts';
import { unescapeSlack } from './escape.ts';

export type TypedCommand =
  | { readonly type: 'form'; readonly subcommand: string | undefined }
  | { readonly type: 'invocation'; readonly subcommand: string | undefined; readonly options: RawOptions };

/** Nothing behind the command, or `?`, opens its form where it has one. Throws UserError like typedOptions. */
export function readTyped(command: AnyCommand, escaped: string): TypedCommand {
  const keepMentions = takesMention(typedPart(command, unescapeSlack(escaped).trim()).options);
  const part = typedPart(command, unescapeSlack(escaped, { keepMentions }).trim());
  const { subcommand, text } = part;
  const whole = command.subcommands === undefined || subcommand !== undefined;
  if (Object.keys(part.options).length > 0 && (text === '?' || (text === '' && whole)))
    return { type: 'form', subcommand };
  const name = subcommand === undefined ? command.name : `${command.name} ${subcommand}`;
  const wayToGiveFile = `Send /${name} alone: the form takes your file.`;
  const options = typedOptions(command, { ...part, text: text === '?' ? '' : text }, { wayToGiveFile });
  return { type: 'invocation', subcommand, options };
}

function takesMention(options: OptionDeclarations): boolean {
  return Object.values(options).some((option) => option.type === 'text' && option.mention === true);
}
