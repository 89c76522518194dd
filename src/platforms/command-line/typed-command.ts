/** Which part of a command a typed text is for. */
import type { AnyCommand, OptionDeclarations, RawOptions } from '../../command.ts';
import { UserError } from '../../errors.ts';
import { nearest } from './nearest.ts';
import { parseOptions } from './parse.ts';

export interface TypedPart {
  readonly subcommand: string | undefined;
  readonly options: OptionDeclarations;
  /** What stands behind the part's name. */
  readonly text: string;
}

/** Reads the part's name, if the text begins with one. */
export function typedPart({ options, subcommands = {} }: AnyCommand, text: string): TypedPart {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text.trimStart()) ?? [];
  const name = word.toLowerCase();
  const part = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (part === undefined) return { subcommand: undefined, options, text: text.trimStart() };
  return { subcommand: name, options: part.options, text: rest };
}

/** The options that were typed for a command or its part. Throws UserError like {@link parseOptions}. */
export function typedOptions(
  command: AnyCommand,
  { subcommand, options, text }: TypedPart,
  { wayToGiveFile }: { readonly wayToGiveFile: string },
): RawOptions {
  if (subcommand === undefined) refuseUnknownPart(command, text);
  return parseOptions(
    {
      name: subcommand === undefined ? command.name : `${command.name} ${subcommand}`,
      options,
      positional: subcommand !== undefined,
      wayToGiveFile,
    },
    text,
  );
}

/** A command with parts that takes no text of its own was meant by one of them. */
function refuseUnknownPart({ name, options, subcommands }: AnyCommand, text: string): void {
  const parts = Object.keys(subcommands ?? {});
  const takesText = Object.values(options).some(({ type }) => type === 'text');
  const [word = ''] = text.split(/\s/, 1);
  if (parts.length === 0 || takesText || word === '' || /^[-—–]/.test(word)) return;
  const near = nearest(word, parts);
  throw new UserError(
    `/${name} has no “${word}”. ${near === undefined ? `It knows ${parts.join(', ')}.` : `Did you mean /${name} ${near}?`}`,
  );
}
