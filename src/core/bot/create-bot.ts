/** Dispatches invocations to commands. All platforms share this path. */

import { toMessage, UserError } from '../errors.ts';
import type { Address, HomeRequest, Invocation, Person, SuggestRequest } from '../invocation.ts';
import type { HomeSection, Message } from '../message.ts';
import { type Choice, namingFields, type OptionDeclarations, validateOptions } from '../options.ts';
import type { Log } from '../telemetry/log.ts';
import { own } from '../util/own.ts';
import { present } from '../util/present.ts';
import { act } from './buttons.ts';
import {
  type AnyCommand,
  type CommandInvocation,
  type Subcommand,
  type SuggestedPrompt,
  subcommandOf,
} from './command.ts';
import type { Context } from './context.ts';
import { type Outcome, privately } from './outcome.ts';

type RefusalRequest = Pick<Invocation, 'command' | 'address' | 'person'>;

/** The bot as platforms see it. No method rejects. */
export interface Bot {
  readonly commands: readonly AnyCommand[];
  /**
   * Runs an invocation. A failure is an outcome with a message. An accepted outcome is already stored, so the platform acknowledges
   * the event afterwards and then calls `begin`. Only commands that answer privately may be acknowledged before: they are free.
   */
  run(invocation: Invocation): Promise<Outcome>;
  /**
   * The reason a person may not use a command here; undefined if they may. `run` checks this itself. Platforms call it before
   * they open a form or a thread.
   */
  refusal(asking: RefusalRequest): Promise<Message | undefined>;
  /** The bot's home page for a person, such as Slack's Home tab. */
  home(request: HomeRequest): Promise<readonly HomeSection[]>;
  /** Example messages for the person. */
  prompts(request: HomeRequest): Promise<readonly SuggestedPrompt[]>;
  /** True if each message in the channel is a question, even without a mention of the bot. */
  answersEveryMessage(address: Address): Promise<boolean>;
  /** Cancels the person's running jobs in the thread of the address. */
  cancelRunning(request: HomeRequest): Promise<void>;
  /** Cancels the job of an invocation whose message was deleted. */
  withdraw(invocation: Pick<Address, 'platform'> & Pick<Invocation, 'id'>): Promise<void>;
  /** At most 25 completions of an option. */
  suggest(request: SuggestRequest): Promise<readonly Choice[]>;
}

/** Discord's limit. */
const MOST_SUGGESTIONS = 25;

/** A person who has access, and their services. */
export interface AdmittedPerson {
  /** The person with their rights here: settings may make them a moderator. */
  readonly person: Person;
  readonly context: Context;
}

export interface EnterRequest extends Pick<Invocation, 'address' | 'person'> {
  /** Absent for requests that moderators cannot deny. */
  readonly command?: string;
  /** Absent if the request starts no work, as for completions and home. */
  readonly invocation?: Invocation;
}

/** The bot's functions, which may throw. {@link createBot} handles their errors. */
export interface BotOptions
  extends Pick<Bot, 'commands' | 'answersEveryMessage' | 'cancelRunning' | 'withdraw'> {
  /**
   * Checks all access: commands, buttons, forms, completions, tools and talk. Reads the settings once. Throws UserError with the
   * reason for a refusal.
   */
  readonly enter: (request: EnterRequest) => Promise<AdmittedPerson>;
  home(entered: AdmittedPerson, address: Address): Promise<readonly HomeSection[]>;
  /** @param isAllowed resolves to true if the person may use the command here */
  prompts(
    entered: AdmittedPerson,
    isAllowed: (command: string) => Promise<boolean>,
  ): Promise<readonly SuggestedPrompt[]>;
  /** The operator's setting that brings a command which is not offered; undefined for unknown commands. */
  readonly settingFor?: (command: string) => string | undefined;
  /** Returns a new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

export function createBot(options: BotOptions): Bot {
  const { commands, enter, settingFor, log } = options;
  const byName = new Map(commands.map((command) => [command.name, command]));
  const messageOf = (error: unknown) => toMessage(error, { log, reference: options.newReference() });

  /** Falls back to a value for requests that cannot show an error to the person. */
  async function attempt<Value>(work: () => Promise<Value>, fallback: Value, failure: string) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UserError)) log.warn({ err: error }, failure);
      return fallback;
    }
  }

  async function answer(original: Invocation): Promise<Outcome> {
    const { address, action, command: name } = original;
    const command = byName.get(name);
    if (!command) throw new UserError(missingSentence(name, settingFor?.(name)));
    const { person, context } = await enter({
      address,
      person: original.person,
      invocation: original,
      // People may cancel their jobs even if the command was denied since.
      ...(action?.name !== 'cancel' && { command: name }),
    });
    const invocation = { ...original, person };
    const control = action && own(command.controls, action.name);
    if (control) return control(invocation, context);
    if (action) return act(command, invocation, action, context);
    const { options: declarations, run } = partOf(command, invocation.subcommand);
    return namingFields(invocation.isForm ? declarations : {}, async () => {
      const options = validateOptions(invocation.options, declarations);
      // Sound because the options were validated against this declaration.
      return run({ ...invocation, options } as CommandInvocation<OptionDeclarations>, context);
    });
  }

  async function refusal({ command, address, person }: RefusalRequest): Promise<Message | undefined> {
    try {
      await enter({ command, address, person });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  return {
    commands,
    refusal,

    async run(invocation) {
      try {
        return await answer(invocation);
      } catch (error) {
        const { option, refusedUntil } = error instanceof UserError ? error : {};
        return { ...privately(messageOf(error)), ...present({ option, refusedUntil }) };
      }
    },

    async home({ address, person }) {
      try {
        return await options.home(await enter({ address, person }), address);
      } catch (error) {
        return [messageOf(error)];
      }
    },

    prompts: ({ address, person }) =>
      attempt(
        async () => {
          const isAllowed = async (command: string) =>
            (await refusal({ command, address, person })) === undefined;
          return options.prompts(await enter({ address, person }), isAllowed);
        },
        [],
        'Could not suggest prompts',
      ),

    answersEveryMessage: (address) =>
      attempt(
        () => options.answersEveryMessage(address),
        false,
        'Could not read whether “answer every message” is on; treating it as off',
      ),

    cancelRunning: (request) =>
      attempt(() => options.cancelRunning(request), undefined, 'Could not cancel the jobs of a thread'),

    withdraw: (invocation) =>
      attempt(() => options.withdraw(invocation), undefined, 'Could not cancel the job of a deleted message'),

    suggest: (request) =>
      attempt(
        async () => {
          const { command: name, address, person } = request;
          const command = byName.get(name);
          if (!command) return [];
          const entered = await enter({ command: name, address, person });
          const choices = await suggestions({ ...request, person: entered.person }, command, entered.context);
          return choices.slice(0, MOST_SUGGESTIONS);
        },
        [],
        'Could not complete an option',
      ),
  };
}

function missingSentence(name: string, setting: string | undefined): string {
  return setting === undefined
    ? `There is no command “${name}”. To see all commands, use /minstrel help.`
    : `This bot has no service for /${name}. Its operator can add one with ${setting}.`;
}

/** Returns the command itself or its subcommand. Throws UserError if there is no such subcommand. */
function partOf(command: AnyCommand, name: string | undefined): Pick<Subcommand, 'options' | 'run'> {
  if (name === undefined) return command;
  const part = subcommandOf(command, name);
  if (part) return part;
  const names = Object.keys(command.subcommands ?? {});
  const hint = names.length > 0 ? ` Its subcommands are ${names.join(', ')}.` : '';
  throw new UserError(`/${command.name} has no subcommand “${name}”.${hint}`);
}

async function suggestions(
  request: SuggestRequest,
  command: AnyCommand,
  context: Context,
): Promise<readonly Choice[]> {
  const part = request.subcommand === undefined ? command : own(command.subcommands, request.subcommand);
  const option = own(part?.options, request.option);
  if (option?.type !== 'text' || !option.autocomplete) return [];
  return (await part?.autocomplete?.[request.option]?.(request, context)) ?? [];
}
