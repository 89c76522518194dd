/** Invocation to command to outcome: the one path that every platform shares. */

import { toMessage, UserError } from '../errors.ts';
import type { Address, HomeRequest, Invocation, Person, SuggestRequest } from '../invocation.ts';
import type { HomeSection, Message } from '../message.ts';
import { type Choice, type OptionDeclarations, validateOptions } from '../options.ts';
import { present } from '../present.ts';
import type { Log } from '../telemetry/log.ts';
import { act } from './buttons.ts';
import type { AnyCommand, CommandInvocation, Subcommand, SuggestedPrompt } from './command.ts';
import type { Context } from './context.ts';
import { type Outcome, privately } from './outcome.ts';

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
  refusal(asking: Pick<Invocation, 'command' | 'address' | 'person'>): Promise<Message | undefined>;
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

export interface BotOptions extends Omit<Bot, 'run' | 'refusal' | 'suggest'> {
  /**
   * The one function that decides who may use what: commands, buttons, forms, completions, tools, talk. Reads what
   * moderators decided once. Throws UserError with the reason.
   */
  readonly enter: (request: EnterRequest) => Promise<Entered>;
  /** A new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

/** Discord and Slack show at most this many completions. */
const MOST_SUGGESTIONS = 25;

export function createBot({ enter, newReference, log, ...members }: BotOptions): Bot {
  const byName = new Map(members.commands.map((command) => [command.name, command]));

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

  return {
    ...members,

    async run(invocation) {
      try {
        return await answer(invocation);
      } catch (error) {
        const { option, refusedUntil } = error instanceof UserError ? error : {};
        const { text } = toMessage(error, { log, reference: newReference() });
        return { ...privately(text), ...present({ option, refusedUntil }) };
      }
    },

    async refusal({ command, address, person }) {
      try {
        await enter({ command, address, person });
        return undefined;
      } catch (error) {
        return toMessage(error, { log, reference: newReference() });
      }
    },

    async suggest(request) {
      try {
        const command = byName.get(request.command);
        if (!command) return [];
        const { address, person } = request;
        const entered = await enter({ command: command.name, address, person });
        const choices = await suggestions({ ...request, person: entered.person }, command, entered.context);
        return choices.slice(0, MOST_SUGGESTIONS);
      } catch (error) {
        if (error instanceof UserError) return [];
        log.warn({ err: error, command: request.command, option: request.option }, 'No completions');
        return [];
      }
    },
  };
}

/** The command itself, or its subcommand. Throws UserError when there is none of that name. */
function partOf(command: AnyCommand, name: string | undefined): Pick<Subcommand, 'options' | 'run'> {
  if (name === undefined) return command;
  const part = command.subcommands?.[name];
  if (part) return part;
  const known = Object.keys(command.subcommands ?? {});
  const wayOut = known.length > 0 ? ` It knows ${known.join(', ')}.` : '';
  throw new UserError(`/${command.name} has no “${name}”.${wayOut}`);
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
