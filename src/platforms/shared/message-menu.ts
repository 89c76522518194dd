/** The form that the menu of a message opens. */
import { type AnyCommand, formTexts, type MessageMenu } from '../../core/bot/command.ts';
import { UserError } from '../../core/errors.ts';
import type { FileReference, Form, OptionValue, RawOptions } from '../../core/options.ts';
import type { PersonMessage } from './question.ts';

/** Returns the command's form with the text and files of the message, or a UserError if the message is missing the required file. */
export function menuForm(
  command: AnyCommand,
  { label: title, option, initial, file }: Extract<MessageMenu, { readonly option: string }>,
  { text, files }: PersonMessage,
): Form | UserError {
  const { name: id, options } = command;
  const found = fileOptions(command, files);
  if (file && found[file.option] === undefined) return new UserError(file.missing);
  return {
    id,
    ...formTexts(command, undefined),
    title,
    options,
    initial: { ...initial, ...found, [option]: text },
  };
}

/** Assigns the first file of a suitable type to each file option. */
export function fileOptions(command: AnyCommand, files: readonly FileReference[]): RawOptions {
  const options: Record<string, OptionValue> = {};
  for (const [name, option] of Object.entries(command.options)) {
    if (option.type !== 'file') continue;
    const fits = (type = '') => option.accept.some((kind) => type.startsWith(`${kind}/`));
    const file = files.find(({ contentType }) => fits(contentType));
    if (file !== undefined) options[name] = file;
  }
  return options;
}

/** Replaces the option's description, since forms cannot show a preselected file. */
export const preselectedHint = ({ name }: FileReference): string =>
  `“${name}” will be used unless you choose another file.`;
