/** Invocation to command to outcome: the one path that every platform shares. */

import { toMessage, UserError } from '../errors.ts';
import type { Address, HomeRequest, Invocation, Person, SuggestRequest } from '../invocation.ts';
import type { HomeSection, Message } from '../message.ts';
import { type Choice, type OptionDeclarations, validateOptions } from '../options.ts';
import type { Log } from '../telemetry/log.ts';
import { present } from '../util/present.ts';
import { act } from './buttons.ts';
import type { AnyCommand, CommandInvocation, Subcommand, SuggestedPrompt } from './command.ts';
import type { Context } from './context.ts';
import { type Outcome, privately } from './outcome.ts';

type RefusalRequest = Pick<Invocation, 'command' | 'address' | 'person'>;

/** The bot, as platforms see it. */
export interface Bot {
  readonly commands: readonly AnyCommand[];
  /**
   * Never rejects: a failure is an outcome with a sentence. An accepted outcome is already stored, so the platform
   * acknowledges after it has the outcome, and then calls `begin`. Only commands that answer privately may be acknowledged
   * before: they cost nothing.
   */
  run(invocation: Invocation): Promise<Outcome>;
  /**
   * Why a person may not use a command here; undefined where they may. For what a platform does by itself, such as opening
   * a form or a thread: `run` asks this of every invocation. Never rejects.
   */
  refusal(asking: RefusalRequest): Promise<Message | undefined>;
  /** What a person sees of the bot in a view of their own, such as Slack's Home tab. Never rejects. */
  home(request: HomeRequest): Promise<readonly HomeSection[]>;
  /** What the person could say here in plain words. Never rejects. */
  prompts(request: HomeRequest): Promise<readonly SuggestedPrompt[]>;
  /** Whether each message in the channel is a question, without the bot's name. Never rejects. */
  talks(address: Address): Promise<boolean>;
  /** Cancels what the person has running in the thread of the address. Never rejects. */
  cancelRunning(request: HomeRequest): Promise<void>;
  /** Cancels what an invocation of this id began: its message was deleted. Never rejects. */
  withdraw(invocation: Pick<Address, 'platform'> & Pick<Invocation, 'id'>): Promise<void>;
  /** Completions for an option, at most 25, never rejects. */
  suggest(request: SuggestRequest): Promise<readonly Choice[]>;
}

/** Nobody reads more; Discord shows no more. Platforms cut their texts. */
const MOST_SUGGESTIONS = 25;

/** A person who was let in, and their tools. */
export interface Entered {
  /** As who they are here: somebody may have been named a moderator. */
  readonly person: Person;
  readonly context: Context;
}

export interface EnterRequest extends Pick<Invocation, 'address' | 'person'> {
  /** Left out where something is asked that moderators cannot forbid. */
  readonly command?: string;
  /** Left out where no work is started: for completions and for home. */
  readonly invocation?: Invocation;
}

/** What the bot does, where nothing fails: {@link createBot} decides what becomes of a failure. */
export interface BotOptions extends Pick<Bot, 'commands' | 'talks' | 'cancelRunning' | 'withdraw'> {
  /**
   * The one function that decides who may use what: commands, buttons, forms, completions, tools, talk. Reads what
   * moderators decided once. Throws UserError with the reason.
   */
  readonly enter: (request: EnterRequest) => Promise<Entered>;
  home(entered: Entered, address: Address): Promise<readonly HomeSection[]>;
  /** @param isAllowed whether the person may use a command of this name here */
  prompts(
    entered: Entered,
    isAllowed: (command: string) => Promise<boolean>,
  ): Promise<readonly SuggestedPrompt[]>;
  /** A new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

export function createBot(options: BotOptions): Bot {
  const { commands, enter, log } = options;
  const byName = new Map(commands.map((command) => [command.name, command]));
  const sentenceOf = (error: unknown) => toMessage(error, { log, reference: options.newReference() });

  /** What the work resolves to. A person who waits for no sentence gets `otherwise` where it fails. */
  async function attempt<Value>(work: () => Promise<Value>, otherwise: Value, failure: string) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UserError)) log.warn({ err: error }, failure);
      return otherwise;
    }
  }

  async function answer(received: Invocation): Promise<Outcome> {
    const { address, action, command: name } = received;
    const command = byName.get(name);
    if (!command) throw new UserError(`There is no command “${name}”.`);
    const { person, context } = await enter({
      address,
      person: received.person,
      invocation: received,
      // What people began they may end.
      ...(action?.name !== 'cancel' && { command: name }),
    });
    const invocation = { ...received, person };
    const control = action && command.controls?.[action.name];
    if (control) return control(invocation, context);
    if (action) return act(command, invocation, action, context);
    const { options: declarations, run } = partOf(command, invocation.subcommand);
    const options = validateOptions(invocation.options, declarations);
    // validateOptions made the values that this very declaration describes.
    return run({ ...invocation, options } as CommandInvocation<OptionDeclarations>, context);
  }

  async function refusal({ command, address, person }: RefusalRequest): Promise<Message | undefined> {
    try {
      await enter({ command, address, person });
      return undefined;
    } catch (error) {
      return sentenceOf(error);
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
        return { ...privately(sentenceOf(error)), ...present({ option, refusedUntil }) };
      }
    },

    async home({ address, person }) {
      try {
        return await options.home(await enter({ address, person }), address);
      } catch (error) {
        return [sentenceOf(error)];
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

    talks: (address) =>
      attempt(() => options.talks(address), false, 'Could not read whether talk is on; treating it as off'),

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

/** The command itself, or its subcommand. Throws UserError when there is none of that name. */
function partOf(command: AnyCommand, name: string | undefined): Pick<Subcommand, 'options' | 'run'> {
  if (name === undefined) return command;
  const part = command.subcommands?.[name];
  if (part) return part;
  const known = Object.keys(command.subcommands ?? {});
  const hint = known.length > 0 ? ` Its subcommands are ${known.join(', ')}.` : '';
  throw new UserError(`/${command.name} has no subcommand “${name}”.${hint}`);
}

async function suggestions(
  request: SuggestRequest,
  command: AnyCommand,
  context: Context,
): Promise<readonly Choice[]> {
  const part = request.subcommand === undefined ? command : command.subcommands?.[request.subcommand];
  const option = part?.options[request.option];
  if (option?.type !== 'text' || !option.autocomplete) return [];
  return (await part?.autocomplete?.[request.option]?.(request, context)) ?? [];
}
