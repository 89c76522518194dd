/** The form that the menu of a message opens. */
import { type AnyCommand, formTexts, MENU_FORM, type MessageMenu } from '../../core/bot/command.ts';
import { UserError } from '../../core/errors.ts';
import type { FileReference, Form, OptionDeclarations, OptionValue, RawOptions } from '../../core/options.ts';
import type { PersonMessage } from './question.ts';

const FILE_DELETED =
  "That message was deleted, or I can no longer read its file, so I haven't started. Attach the file to the command instead.";

/** Returns the form with the text and files of the message, or a UserError if the message is missing the required file. */
export function menuForm(
  command: AnyCommand,
  menu: Exclude<MessageMenu, { readonly subcommand: string }>,
  { text, files }: PersonMessage,
): Form | UserError {
  const { name } = command;
  const { label: title, form, option, file } = menu;
  const subcommand = form && MENU_FORM;
  const { options } = form ?? command;
  const found = fileOptions(options, files);
  if (file && found[file.option] === undefined) return new UserError(file.missing);
  return {
    id: subcommand === undefined ? name : `${name} ${subcommand}`,
    ...formTexts(command, subcommand),
    title,
    options,
    initial: { ...menu.initial, ...found, ...(option !== undefined && { [option]: text }) },
  };
}

/**
 * Adds the files of the message whose menu opened the form, unless the person chose one. Returns a UserError if the message or its file
 * was deleted, because the command could take another one.
 */
export function filledForm(
  declarations: OptionDeclarations | undefined,
  chosen: RawOptions,
  files: readonly FileReference[],
): RawOptions | UserError {
  const options = { ...fileOptions(declarations ?? {}, files), ...chosen };
  const hasFile = Object.values(options).some((value) => typeof value === 'object');
  return hasFile ? options : new UserError(FILE_DELETED);
}

/** Assigns the first file of a suitable type to each file option. */
function fileOptions(declarations: OptionDeclarations, files: readonly FileReference[]): RawOptions {
  const options: Record<string, OptionValue> = {};
  for (const [name, option] of Object.entries(declarations)) {
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
