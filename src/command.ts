/** How a command is declared, what it is given, and what it may answer. Commands never see a platform. */
import { z } from 'zod';
import type { musicLimits } from './gateway/music.ts';
import type { KeptFile, MediaSource, Message } from './message.ts';
import type { Moderation } from './moderation.ts';
import type { JobView, Work } from './work.ts';

// --- Options -----------------------------------------------------------------------------------------------------

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

// --- Who and where -----------------------------------------------------------------------------------------------

export const addressSchema = z.object({
  platform: z.string(),
  /** Guild or workspace; absent in direct messages. */
  guild: z.string().optional(),
  channel: z.string(),
  /** The channel that this one is a thread of, where the platform makes threads channels of their own. */
  parent: z.string().optional(),
  thread: z.string().optional(),
  /** The person who asked: the only one who may be mentioned, and who gets a direct message if the place is gone. */
  person: z.string(),
  /** What only the platform reads, such as an interaction's token. Never logged. */
  platformData: z.record(z.string(), z.json()).optional(),
});
/** Where a result goes. Serialisable: it is stored with the job. */
export type Address = z.infer<typeof addressSchema>;

export interface Person {
  readonly id: string;
  readonly displayName: string;
  readonly moderator: boolean;
  readonly roles: readonly string[];
}

/** What was said before, oldest first, read from the platform's own thread or reply chain. */
export interface ConversationTurn {
  readonly author: 'person' | 'bot';
  /** Who said it, for group talk. */
  readonly name?: string;
  /** The platform's id of who said it. */
  readonly person?: string;
  readonly text: string;
  readonly files: readonly FileReference[];
}

/** One thing that a person asked of the bot. */
export interface Invocation {
  /** The platform's own id of the event; the same event that comes twice has the same id. */
  readonly id: string;
  readonly command: string;
  readonly subcommand?: string;
  /** A pressed button or a sent form: which, of which job, and which item of its result. */
  readonly action?: {
    readonly name: string;
    readonly job: string;
    readonly index: number;
    /** The action's form was sent, with what stands in {@link options}; otherwise its button was pressed. */
    readonly sent?: boolean;
  };
  readonly options: RawOptions;
  readonly address: Address;
  readonly person: Person;
  readonly conversation?: readonly ConversationTurn[];
  /** Everything that was attached to what was said, where there is no option for it. */
  readonly files?: readonly FileReference[];
  /** The person's language, as the platform tells it (BCP 47). */
  readonly locale?: string;
}

export interface SuggestRequest {
  readonly command: string;
  readonly subcommand?: string;
  readonly option: string;
  /** What was typed so far. */
  readonly typed: string;
  readonly address: Address;
  readonly person: Person;
}

// --- Answers -----------------------------------------------------------------------------------------------------

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

// --- Commands ----------------------------------------------------------------------------------------------------

/** What a model is chosen for. */
export type Family = 'song' | 'ask' | 'image' | 'video';

export interface Log {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}

export interface StartRequest {
  readonly work: Work;
  /** What people see while it runs, such as "Composing “Rain”". Plain. */
  readonly title: string;
  /** The command that renders the result; the invoked one if left out. */
  readonly command?: string;
  /** The job whose result this one was made from. */
  readonly parent?: string;
  /** What it is made from, for people: “Rain”, take 1. Plain. */
  readonly madeFrom?: string;
}

/** A voice that was taken from a song and kept for a server. */
export interface Voice {
  readonly personaId: string;
  readonly name: string;
  readonly description?: string;
  /** The song it was taken from, for people. */
  readonly madeFrom?: string;
  /** The audio it was taken from: each gives one voice (contract, "Limits" 1). */
  readonly audioId?: string;
  readonly keptBy: Pick<Person, 'id' | 'displayName'>;
  /** Milliseconds since the epoch. */
  readonly keptAt: number;
}

/** What moderators chose for answers in a place: the channel's choice over the server's. */
export interface AnswerSettings {
  readonly systemPrompt?: string;
  /** Questions may use the bot's own commands. */
  readonly assistant: boolean;
  /** Small print under an answer: model, route, tokens. */
  readonly footer: boolean;
}

/** What the operator decided about answers. Models are ids; those of gen stand without their route. */
export interface AnswerOffer {
  /** Upper bound of output tokens. */
  readonly maxTokens: number;
  readonly temperature?: number;
  /** Input tokens that a question may have together with what was said before. */
  readonly contextTokens: number;
  /** Looks at pictures where the chosen model cannot; may begin with a route. */
  readonly visionModel?: string;
  /** A gen model that can call functions: the bot's own commands. */
  readonly toolModel?: string;
  /** Gen models that answer with text and pictures. */
  readonly illustratingModels: readonly string[];
  /** Gen models of the thinking preview; none where it is switched off. */
  readonly thinkingModels: readonly string[];
  /** Tokens to think with; -1 is automatic. */
  readonly thinkingBudget: number;
}

/** A command's tools. */
export interface Context {
  readonly now: () => number;
  readonly log: Log;
  readonly jobs: {
    /** Stores the work as a job before anything is spent. */
    start(request: StartRequest): Promise<Outcome>;
    find(id: string): Promise<JobView | undefined>;
    /** Finished jobs of this channel with songs in their result, newest first. */
    recentSongs(limit: number): Promise<readonly JobView[]>;
    /** What the person has running here. */
    running(): Promise<readonly JobView[]>;
    /** Ends work that has not finished; false if there was nothing to end. */
    cancel(id: string): Promise<boolean>;
    /** Delivers cancelled work that was finished all the same; false if there is nothing to show. */
    reveal(id: string): Promise<boolean>;
    /** The person's newest results that could be shown nowhere. */
    unplaced(limit: number): Promise<readonly JobView[]>;
    /** Shows such a result here; undefined if it is not the person's, or was shown meanwhile. */
    showHere(id: string): Promise<Outcome | undefined>;
  };
  readonly models: {
    /**
     * The model to use: the one named, else the channel's, the guild's, the deployment's.
     * Throws UserError when the name is not one this account may use, or when nobody has chosen yet.
     */
    resolve(family: Family, named: string | undefined): Promise<string>;
    suggest(family: Family, typed: string): Promise<readonly Choice[]>;
    /** The listing routes that name this id; none while no list is known. */
    listedBy(id: string): readonly ('chat' | 'msg')[];
  };
  readonly answers: AnswerOffer;
  readonly settings: { answers(): Promise<AnswerSettings> };
  /** What moderators may do. Whoever calls it has checked that the person is one, by {@link Command.moderatorsOnly}. */
  readonly moderation: Moderation;
  /** The gateway's bounds, so that bad input is told before anything is spent. */
  readonly limits: { readonly music: typeof musicLimits };
  readonly files: {
    /** Keeps the attachment, checked by its content; throws UserError for the wrong kind or size. */
    keep(file: FileReference, accept: FileOption['accept']): Promise<KeptFile>;
    /** Keeps a picture as every model takes it: scaled down when it is too large. Throws UserError like `keep`. */
    keepPicture(file: FileReference): Promise<KeptFile>;
    /** Keeps a text. Throws UserError like `keep`. */
    keepDocument(file: FileReference): Promise<KeptFile>;
    /**
     * A file of a finished job's result: the kept one, or fetched anew. Throws UserError when it is kept nowhere any more.
     */
    made(job: JobView, source: MediaSource, accept: FileOption['accept']): Promise<KeptFile>;
    /** How long the audio of a kept file lasts; undefined when its content does not tell. */
    seconds(file: KeptFile): Promise<number | undefined>;
  };
  /** The voices of this server, or of this conversation where there is no server. */
  readonly voices: {
    /** By name. */
    list(): Promise<readonly Voice[]>;
    /** False when there was none. */
    remove(personaId: string): Promise<boolean>;
  };
}

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
