/** What a typed slash command asks for: a form, or an invocation. */
import type { AnyCommand, RawOptions } from '../../command.ts';
import { unescapeSlack } from './escape.ts';
import { optionsOf } from './forms.ts';
import { parseOptions } from './parse.ts';

export type TypedCommand =
  | { readonly type: 'form'; readonly subcommand: string | undefined }
  | { readonly type: 'invocation'; readonly subcommand: string | undefined; readonly options: RawOptions };

/** Nothing behind the command, or `?`, opens its form where it has one. Throws UserError like parseOptions. */
export function readTyped(command: AnyCommand, escaped: string): TypedCommand {
  const text = unescapeSlack(escaped).trim();
  const [word = ''] = text.split(/\s/, 1);
  const subcommand = Object.hasOwn(command.subcommands ?? {}, word.toLowerCase())
    ? word.toLowerCase()
    : undefined;
  const rest = subcommand === undefined ? text : text.slice(word.length).trim();
  const options = optionsOf(command, subcommand);
  const whole = command.subcommands === undefined || subcommand !== undefined;
  if (Object.keys(options).length > 0 && (rest === '?' || (rest === '' && whole)))
    return { type: 'form', subcommand };
  const name = subcommand === undefined ? command.name : `${command.name} ${subcommand}`;
  return {
    type: 'invocation',
    subcommand,
    options: parseOptions({ name, options }, rest === '?' ? '' : rest),
  };
}
