/** How a command is declared, what it is given, and what it may answer. Commands never see a platform. */

import type { Family } from '../family.ts';
import type { Invocation, SuggestRequest } from '../invocation.ts';
import type { JobView } from '../job.ts';
import type { Message } from '../message.ts';
import type { Choice, Form, OptionDeclarations, OptionValues } from '../options.ts';
import type { Work } from '../work.ts';
import type { Context } from './context.ts';
import type { Outcome } from './outcome.ts';

/** What `run` is given: an invocation whose options were validated. */
export interface CommandInvocation<Options extends OptionDeclarations> extends Omit<Invocation, 'options'> {
  readonly options: OptionValues<Options>;
}

/** What an action is given: the job whose button was pressed. */
export interface ActionInvocation extends Invocation {
  readonly job: JobView;
  /** Which item of the job's result. */
  readonly index: number;
}

/** What is asked before an action runs. Its id is the action's own. */
export type ActionForm = Omit<Form, 'id'>;

export interface CommandAction {
  /**
   * What a pressed button asks first; `run` then gets what was sent, validated against the form's options. Throws
   * UserError where there is nothing to ask. Without a form, `run` answers the button.
   */
  readonly form?: (invocation: ActionInvocation, context: Context) => Promise<ActionForm>;
  /** As {@link Command.answersPrivately}, for this button. */
  readonly answersPrivately?: boolean;
  readonly run: (invocation: ActionInvocation, context: Context) => Promise<Outcome>;
}

/** An action that asks by a form; `run` gets the values that the form's declaration describes. */
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
      const opened = await form(invocation, context);
      return { ...opened, options: typeof options === 'function' ? options(invocation) : options };
    },
    // Sound because bot.run validates the options against this very declaration before it calls `run`.
    run: run as unknown as CommandAction['run'],
  };
}

/** Completes an option while a person types; the first 25 are shown. */
export type Autocomplete = (request: SuggestRequest, context: Context) => Promise<readonly Choice[]>;

/** A part of a command with options of its own, as in `/models set`. */
export interface Subcommand<Options extends OptionDeclarations = OptionDeclarations> {
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  readonly options: Options;
  /** By option; for each that is declared with `autocomplete`. */
  readonly autocomplete?: Readonly<Partial<Record<keyof Options & string, Autocomplete>>>;
  /** Without options it answers with a form of its own, which holds what is set now: no platform opens an empty one. */
  readonly asks?: true;
  readonly run: (invocation: CommandInvocation<Options>, context: Context) => Promise<Outcome>;
}

/** Checks a declaration's types and infers its options. Returns the same object. */
export function defineSubcommand<const Options extends OptionDeclarations>(
  subcommand: Subcommand<Options>,
): Subcommand {
  // Sound because bot.run validates the options against this very declaration before it calls `run`.
  return subcommand as unknown as Subcommand;
}

/** An entry in the menu of a message that somebody wrote: opens the command's form with the message in one option. */
export interface MessageMenu {
  /** At most 24 characters (Slack's limit). */
  readonly label: string;
  readonly option: string;
}

/** What a person could say, for those who do not know how to begin. Plain. */
export interface SuggestedPrompt {
  /** A few words that name it. */
  readonly title: string;
  readonly message: string;
}

export interface Command<Options extends OptionDeclarations = OptionDeclarations>
  extends Omit<Subcommand<Options>, 'asks'> {
  readonly name: string;
  /** By name. Without one of them (which only Slack and the terminal allow) `run` answers, with `options`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  readonly messageMenu?: MessageMenu;
  /** An example in plain words, which a model that may use the command understands. */
  readonly suggestion?: SuggestedPrompt;
  /** Rules about this family are about the command too. */
  readonly family?: Family;
  /** Only moderators may use it. */
  readonly moderatorsOnly?: boolean;
  /** Moderators cannot forbid it: help, and what people may ask about their own data. */
  readonly alwaysAllowed?: boolean;
  /** What it says is for the person alone. It costs nothing, so it may be acknowledged before it is done. */
  readonly answersPrivately?: boolean;
  /** What the finished job says. Pure: it may be rendered again at any time. */
  readonly done?: (job: JobView) => Message;
  /** The name, without extension, of an archive of all files of the result; undefined for no archive. Pure. */
  readonly archive?: (job: JobView) => string | undefined;
  /** What an unfinished job can already show, besides its progress. Pure. */
  readonly early?: (job: JobView) => Message;
  /**
   * The work that Again starts, as it may be done today; where it is left out, the work that is stored. Throws UserError
   * where it can be done no more.
   */
  readonly again?: (job: JobView, context: Context) => Promise<Work>;
  /** Buttons of messages that belong to no job, by name: they work in the whole server. */
  readonly controls?: Readonly<
    Record<string, (invocation: Invocation, context: Context) => Promise<Outcome>>
  >;
  /** Its buttons, by name. */
  readonly actions?: Readonly<Record<string, CommandAction>>;
}

/** Any command, whatever its options: how the registry and the platforms see it. */
export type AnyCommand = Command<OptionDeclarations>;

/** Checks a declaration's types and infers its options. Returns the same object. */
export function defineCommand<const Options extends OptionDeclarations>(
  command: Command<Options>,
): AnyCommand {
  // Sound because bot.run validates the options against this very declaration before it calls `run`.
  return command as unknown as AnyCommand;
}

/** A command of subcommands. Without the name of one its first is meant. */
export function defineGroup({
  subcommands,
  ...command
}: Omit<AnyCommand, 'options' | 'run' | 'autocomplete'> &
  Required<Pick<AnyCommand, 'subcommands'>>): AnyCommand {
  const [first] = Object.values(subcommands);
  if (first === undefined) throw new TypeError(`/${command.name} has no subcommands`);
  const { description: _, asks: _asks, ...meant } = first;
  return { ...meant, ...command, subcommands };
}

/** Whether what an invocation says is for its person alone: see {@link Command.answersPrivately}. */
export function answersPrivately(
  { command: named, action }: Pick<Invocation, 'command' | 'action'>,
  commands: readonly AnyCommand[],
): boolean {
  const command = commands.find(({ name }) => name === named);
  const button = action && command?.actions?.[action.name];
  return button?.answersPrivately ?? command?.answersPrivately ?? false;
}
