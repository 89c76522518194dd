/** The types of a command: its declaration, its input and its outcome. Commands don't depend on platforms. */

import type { Invocation, SuggestRequest } from '../invocation.ts';
import type { JobView } from '../job.ts';
import type { Message } from '../message.ts';
import type { Family } from '../models/family.ts';
import type { Choice, Form, OptionDeclarations, OptionValues, RawOptions } from '../options.ts';
import { own } from '../util/own.ts';
import type { Work } from '../work.ts';
import type { Context } from './context.ts';
import type { Outcome } from './outcome.ts';

/** An invocation with validated options. */
export interface CommandInvocation<Options extends OptionDeclarations> extends Omit<Invocation, 'options'> {
  readonly options: OptionValues<Options>;
}

/** An invocation of an action, with the job of its button. */
export interface ActionInvocation extends Invocation {
  readonly job: JobView;
  /** Index of the item in the job's result. */
  readonly index: number;
}

/** The form of an action. Its id is the action's. */
export type ActionForm = Omit<Form, 'id'>;

export interface CommandAction {
  /**
   * Returns the form that the button opens. `run` then gets the sent options, validated. Throws UserError if the action is not
   * possible. Without a form, the button calls `run`.
   */
  readonly form?: (invocation: ActionInvocation, context: Context) => Promise<ActionForm>;
  /** Overrides {@link Command.answersPrivately} for this button. */
  readonly answersPrivately?: boolean;
  readonly run: (invocation: ActionInvocation, context: Context) => Promise<Outcome>;
}

/** Defines an action with a form. `run` gets typed option values. */
export function defineFormAction<const Options extends OptionDeclarations>(action: {
  readonly options: Options | ((invocation: ActionInvocation) => Options);
  readonly form: (invocation: ActionInvocation, context: Context) => Promise<Omit<ActionForm, 'options'>>;
  readonly run: (
    invocation: Omit<ActionInvocation, 'options'> & { readonly options: OptionValues<Options> },
    context: Context,
  ) => Promise<Outcome>;
}): CommandAction {
  const { options, form, run } = action;
  return {
    async form(invocation, context) {
      const fields = await form(invocation, context);
      return { ...fields, options: typeof options === 'function' ? options(invocation) : options };
    },
    // Sound because bot.run validates the options against this very declaration before it calls `run`.
    run: run as unknown as CommandAction['run'],
  };
}

/** Suggests values for an option while a person types. The first 25 are shown. */
export type Autocomplete = (request: SuggestRequest, context: Context) => Promise<readonly Choice[]>;

export type FormTexts = Pick<Form, 'title' | 'submitLabel'>;

/** The texts of a command's form. */
export function formTexts(
  command: Pick<AnyCommand, 'name' | 'form' | 'subcommands' | 'messageMenu'>,
  subcommand: string | undefined,
): FormTexts {
  const declared = (subcommand === undefined ? command : subcommandOf(command, subcommand))?.form;
  const id = [command.name, subcommand].filter(Boolean).join(' ');
  return declared ?? { title: id.charAt(0).toUpperCase() + id.slice(1), submitLabel: 'Send' };
}

/** A subcommand with its own options, such as `/models set`. */
export interface Subcommand<Options extends OptionDeclarations = OptionDeclarations> {
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  readonly options: Options;
  /** By name of the option, for options declared with `autocomplete`. */
  readonly autocomplete?: Readonly<Partial<Record<keyof Options & string, Autocomplete>>>;
  /** Invoked without options, it answers with a form that shows the current values. Platforms must not open an empty form instead. */
  readonly asks?: true;
  /** It needs at least one of its optional options. */
  readonly needsOption?: true;
  /** Texts of its form, at most 24 characters each (Slack's limit). The button says what happens, such as "Make song". */
  readonly form?: FormTexts;
  readonly run: (invocation: CommandInvocation<Options>, context: Context) => Promise<Outcome>;
}

/** Checks a declaration's types and infers its options. Returns the same object. */
export function defineSubcommand<const Options extends OptionDeclarations>(
  subcommand: Subcommand<Options>,
): Subcommand {
  // Sound because bot.run validates the options against this very declaration before it calls `run`.
  return subcommand as unknown as Subcommand;
}

/** An entry in the context menu of messages. */
export type MessageMenu = {
  /** At most 24 characters (Slack's limit). */
  readonly label: string;
} & (
  | {
      /** The form it opens, which cannot be typed. By default the command's. */
      readonly form?: Subcommand;
      /** The option for the text of the message. */
      readonly option?: string;
      /** Other values of the form. */
      readonly initial?: RawOptions;
      /** The file option that a message must fill, and the sentence for a message without such a file. */
      readonly file?: { readonly option: string; readonly missing: string };
    }
  | {
      /** Runs at once with the files of the message. */
      readonly subcommand: string;
    }
);

/** The subcommand of an invocation that comes from {@link MessageMenu.form}. */
export const MENU_FORM = 'from-message';

/** Returns the subcommand with this name, also that of the menu; undefined if it does not exist. */
export function subcommandOf(
  { subcommands, messageMenu }: Pick<AnyCommand, 'subcommands' | 'messageMenu'>,
  name: string,
): Subcommand | undefined {
  if (name === MENU_FORM && messageMenu && 'form' in messageMenu) return messageMenu.form;
  return own(subcommands, name);
}

/** An example message for people who don't know how to start, as plain text. */
export interface SuggestedPrompt {
  /** A few words. */
  readonly title: string;
  readonly message: string;
}

export interface Command<Options extends OptionDeclarations = OptionDeclarations>
  extends Omit<Subcommand<Options>, 'asks'> {
  readonly name: string;
  /** Subcommands by name. `run` and `options` apply without a subcommand, which only Slack and the terminal allow. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  readonly messageMenu?: MessageMenu;
  /** An example message that makes a model run the command. */
  readonly suggestion?: SuggestedPrompt;
  /** Rules for this family apply to the command, too. */
  readonly family?: Family;
  /** Only moderators may use it. */
  readonly moderatorsOnly?: boolean;
  /** Moderators cannot deny it: help, and access to a person's own data. */
  readonly alwaysAllowed?: boolean;
  /** Only the requester sees the outcome. It must be free, because it may be acknowledged before it runs. */
  readonly answersPrivately?: boolean;
  /** Renders the result of a finished job. Pure: called again whenever the message is rendered. */
  readonly done?: (job: JobView) => Message;
  /** The name, without extension, of an archive with all files of the result; undefined for no archive. Pure. */
  readonly archive?: (job: JobView) => string | undefined;
  /** Renders a partial result, shown along with the progress. Pure. */
  readonly early?: (job: JobView) => Message;
  /**
   * Returns the work that **Again** starts, adapted to the current settings; the stored work by default. Throws UserError if it is no
   * longer possible.
   */
  readonly again?: (job: JobView, context: Context) => Promise<Work>;
  /** Buttons of messages without a job, by name. They work in the whole server. */
  readonly controls?: Readonly<
    Record<string, (invocation: Invocation, context: Context) => Promise<Outcome>>
  >;
  /** Buttons of its jobs, by name. */
  readonly actions?: Readonly<Record<string, CommandAction>>;
}

/** A command with any options, as the registry and the platforms see it. */
export type AnyCommand = Command<OptionDeclarations>;

/** Checks a declaration's types and infers its options. Returns the same object. */
export function defineCommand<const Options extends OptionDeclarations>(
  command: Command<Options>,
): AnyCommand {
  // Sound because bot.run validates the options against this very declaration before it calls `run`.
  return command as unknown as AnyCommand;
}

/** Defines a command with subcommands. Without a subcommand, the first one runs. */
export function defineGroup({
  subcommands,
  ...command
}: Omit<AnyCommand, 'options' | 'run' | 'autocomplete'> &
  Required<Pick<AnyCommand, 'subcommands'>>): AnyCommand {
  const [first] = Object.values(subcommands);
  if (first === undefined) throw new TypeError(`/${command.name} has no subcommands`);
  const { description: _, asks: _asks, form: _form, ...defaults } = first;
  return { ...defaults, ...command, subcommands };
}

/** True if only the requester sees the outcome; see {@link Command.answersPrivately}. */
export function answersPrivately(
  { command: commandName, action }: Pick<Invocation, 'command' | 'action'>,
  commands: readonly AnyCommand[],
): boolean {
  const command = commands.find(({ name }) => name === commandName);
  const button = action && command?.actions?.[action.name];
  return button?.answersPrivately ?? command?.answersPrivately ?? false;
}
