import type { OptionDeclarations, RawOptions } from '../options.ts';

/** A form built from a declaration; when it is sent, it comes back as an invocation with the same `id`. */
export interface Form {
  /** The command's name for its own form, or an action id. */
  readonly id: string;
  readonly title: string;
  readonly submitLabel: string;
  readonly options: OptionDeclarations;
  /** What the fields hold when the form opens. */
  readonly initial: RawOptions;
}

/** A button that opens the form of a command, or of one of its subcommands. */
export interface FormButton extends Pick<Form, 'initial'> {
  readonly command: string;
  readonly subcommand?: string;
  readonly label: string;
}
