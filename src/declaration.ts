/** How a command's options are declared, and the values that a declaration promises. */
import type { Context } from './context.ts';
import type { SuggestRequest } from './invocation.ts';

export interface Choice {
  readonly name: string;
  readonly value: string;
}

interface OptionBase {
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  readonly required?: boolean;
}

export interface TextOption extends OptionBase {
  readonly type: 'text';
  /** In characters. */
  readonly maximumLength?: number;
  /** Forms offer several lines. */
  readonly multiline?: boolean;
  /** Takes one person or role: platforms offer their own picker and leave a mention, as `<@id>` or `<@&id|name>`. */
  readonly mention?: boolean;
  /** Offers completions while the person types; any text stays allowed. */
  readonly suggest?: (request: SuggestRequest, context: Context) => Promise<readonly Choice[]>;
}

export interface ChoiceOption extends OptionBase {
  readonly type: 'choice';
  readonly choices: readonly Choice[];
}

export interface FlagOption extends OptionBase {
  readonly type: 'flag';
}

export interface NumberOption extends OptionBase {
  readonly type: 'number';
  readonly integer?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface FileOption extends OptionBase {
  readonly type: 'file';
  readonly accept: readonly ('audio' | 'image')[];
  readonly maximumBytes: number;
}

export type OptionDeclaration = TextOption | ChoiceOption | FlagOption | NumberOption | FileOption;

/** Name to declaration. The first text option takes what is typed without a flag on Slack. */
export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

/** A file that a person attached, as the platform told of it: nothing about it is proven yet. */
export interface FileReference {
  readonly name: string;
  readonly contentType?: string | undefined;
  readonly bytes?: number | undefined;
  /** Where the platform serves it. Slack's needs the bot's credentials. */
  readonly url: string;
}

export type OptionValue = string | number | boolean | FileReference;

/** As a platform read them; {@link Invocation.options} before validation. */
export type RawOptions = Readonly<Record<string, OptionValue | undefined>>;

type ValueOf<Declaration> = Declaration extends { readonly type: 'flag' }
  ? boolean
  : Declaration extends { readonly type: 'number' }
    ? number
    : Declaration extends { readonly type: 'file' }
      ? FileReference
      : Declaration extends {
            readonly type: 'choice';
            readonly choices: readonly { readonly value: infer Value }[];
          }
        ? Value
        : string;

/** The validated values that a declaration promises. */
export type OptionValues<Declarations extends OptionDeclarations> = {
  readonly [Name in keyof Declarations as Declarations[Name] extends { readonly required: true }
    ? Name
    : never]: ValueOf<Declarations[Name]>;
} & {
  readonly [Name in keyof Declarations as Declarations[Name] extends { readonly required: true }
    ? never
    : Name]?: ValueOf<Declarations[Name]> | undefined;
};
