/** Initial files of a form: those of the message whose menu opened it. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { FileReference, OptionValue, RawOptions } from '../../core/options.ts';

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
