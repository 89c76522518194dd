/** Files that a form starts with: those of the message whose menu opened it. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { FileReference, OptionValue, RawOptions } from '../../core/options.ts';

/** For each option that takes a file, the first file of its kind. */
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

/** Takes the place of the option's description: no form can show a file as chosen. */
export const willBeUsed = ({ name }: FileReference): string =>
  `“${name}” will be used unless you pick another file.`;
