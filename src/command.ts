/** How a command is declared, what it is given, and what it may answer. Commands never see a platform. */
import type { Context } from './context.ts';
import type { OptionDeclarations, OptionValues, RawOptions } from './declaration.ts';
import type { Invocation } from './invocation.ts';
import type { Message } from './message.ts';
import type { JobView } from './work.ts';

export type * from './context.ts';
export type * from './declaration.ts';
export * from './invocation.ts';

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

/** A button that opens the form of a command, or of a part of it. */
export interface FormButton {
  readonly command: string;
  readonly subcommand?: string;
  readonly label: string;
  /** The command answers `initial` with its form by itself, such as with what is set now. */
  readonly asks?: boolean;
  /** What the fields hold when the form opens. */
  readonly initial: RawOptions;
}

/** Part of what a person sees of the bot in a place of their own. */
export interface HomeSection extends Message {
  readonly forms?: readonly FormButton[];
}

/** `address` is the channel whose settings and songs are shown. */
export type HomeRequest = Pick<Invocation, 'address' | 'person'>;

export type Outcome =
  /** Said at once, to the person alone or to the channel. */
  | {
      readonly type: 'message';
      readonly visibility: 'person' | 'channel';
      readonly message: Message;
      /** The option that is wrong, so that an open form can show the sentence beside its field. */
      readonly option?: string;
    }
  | { readonly type: 'form'; readonly form: Form }
  /** Stored as a job. The platform acknowledges, then calls `begin`; if it never does, the job begins by itself later. */
  | { readonly type: 'accepted'; readonly job: string; readonly begin: () => void };

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
  readonly run: (invocation: ActionInvocation, context: Context) => Promise<Outcome>;
}

/** An action that asks by a form; `run` gets the values that the form's declaration promises. */
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
      const asked = await form(invocation, context);
      return { ...asked, options: typeof options === 'function' ? options(invocation) : options };
    },
    // Sound because bot.run validates the options against this very declaration before it calls `run`.
    run: run as unknown as CommandAction['run'],
  };
}

/** A part of a command with options of its own, as in `/models set`. */
export interface Subcommand<Options extends OptionDeclarations = OptionDeclarations> {
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  readonly options: Options;
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

export interface Command<Options extends OptionDeclarations = OptionDeclarations> {
  readonly name: string;
  /** At most 100 characters (Discord's limit). */
  readonly description: string;
  readonly options: Options;
  /** By name. Without one of them (which only Slack and the terminal allow) `run` answers, with `options`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  readonly messageMenu?: MessageMenu;
  /** Only moderators may use it. */
  readonly moderatorsOnly?: boolean;
  /** Moderators cannot take it from anybody: help, and what people may ask about their own data. */
  readonly alwaysAllowed?: boolean;
  /** Everything it says is for the person alone. */
  readonly answersPrivately?: boolean;
  readonly run: (invocation: CommandInvocation<Options>, context: Context) => Promise<Outcome>;
  /** What the finished job says. Pure: it may be rendered again at any time. */
  readonly done?: (job: JobView) => Message;
  /** The name without extension under which all files of a result also come as one archive; undefined for none. Pure. */
  readonly archive?: (job: JobView) => string | undefined;
  /** What an unfinished job can already show, besides its progress. Pure. */
  readonly early?: (job: JobView) => Message;
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
