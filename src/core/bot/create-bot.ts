/** Invocation to command to outcome: the one path that every platform shares. */

import { toMessage, UserError } from '../errors.ts';
import type { Address, HomeRequest, Invocation, Person, SuggestRequest } from '../invocation.ts';
import type { HomeSection, Message } from '../message.ts';
import { type Choice, type OptionDeclarations, validateOptions } from '../options.ts';
import type { Log } from '../telemetry/log.ts';
import { act } from './buttons.ts';
import type { AnyCommand, CommandInvocation, Subcommand, SuggestedPrompt } from './command.ts';
import type { Context } from './context.ts';
import type { Outcome } from './outcome.ts';

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
  home?(request: HomeRequest): Promise<readonly HomeSection[]>;
  /** What the person could say here in plain words. Never rejects. */
  prompts?(request: HomeRequest): Promise<readonly SuggestedPrompt[]>;
  /** Whether each message in the channel is a question, without the bot's name. Never rejects. */
  talks?(address: Address): Promise<boolean>;
  /** Cancels what the person has running in the thread of the address. Never rejects. */
  cancelRunning?(request: HomeRequest): Promise<void>;
  /** Cancels what an invocation of this id began: its message was deleted. Never rejects. */
  withdraw?(asked: Pick<Address, 'platform'> & Pick<Invocation, 'id'>): Promise<void>;
  /** Completions for an option, at most 25, never rejects. */
  suggest(request: SuggestRequest): Promise<readonly Choice[]>;
}

/** What moderators decided is read once an invocation, when the person is admitted, and passed on as `settings`. */
export interface Admission<Settings> {
  /** As who they are here: somebody may have been named a moderator. */
  readonly person: Person;
  readonly settings: Settings;
}

/** What the tools of one invocation are made for. */
export interface ContextRequest<Settings> extends Admission<Settings> {
  readonly address: Address;
  /** As the platform knows them, before what moderators decided about them. */
  readonly platformPerson: Person;
  /** Absent for completions and for home, which start no work. */
  readonly invocation?: Invocation;
}

export interface BotOptions<Settings> {
  readonly commands: readonly AnyCommand[];
  /**
   * The one function that decides who may use what: commands, buttons, forms, completions, tools, talk. `settings` are
   * those of this invocation, where they were read already. Throws UserError with the reason.
   */
  readonly admit: (
    asking: Pick<Invocation, 'command' | 'address' | 'person'>,
    settings?: Settings,
  ) => Promise<Admission<Settings>>;
  readonly context: (request: ContextRequest<Settings>) => Context;
  /** What people see of the bot on a page of their own; absent where there is none. */
  readonly home?: (request: HomeRequest, tools: Context) => Promise<readonly HomeSection[]>;
  /** A new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

/** Help, and what people may do with their own work. Moderators cannot forbid it. */
const OPEN_TO_ALL = 'minstrel';
/** What is played in voice channels is this command's, whichever button asks for it. */
const PARTY = 'party';
/** Discord and Slack show at most this many completions. */
const MOST_SUGGESTIONS = 25;

export function createBot<Settings>(options: BotOptions<Settings>): Bot {
  const { commands, admit, context, home, newReference, log } = options;
  const byName = new Map(commands.map((command) => [command.name, command]));

  /** Throws UserError when the person may not use the command here. */
  const enter = (
    { name }: AnyCommand,
    { address, person }: Pick<Invocation, 'address' | 'person'>,
    settings?: Settings,
  ) => admit({ command: name, address, person }, settings);

  /** A button may do the work of another command: the person must be admitted to that command too. */
  function guarded(tools: Context, command: AnyCommand, asking: Invocation, settings: Settings): Context {
    const enterOther = async (name: string | undefined): Promise<void> => {
      const other = name === undefined ? undefined : byName.get(name);
      if (other && other !== command) await enter(other, asking, settings);
    };
    const jobs: Context['jobs'] = {
      ...tools.jobs,
      async start(request) {
        await enterOther(request.command);
        return tools.jobs.start(request);
      },
    };
    const party: Context['party'] = async () => {
      await enterOther(PARTY);
      return tools.party();
    };
    return { ...tools, jobs, party };
  }

  async function answer(asked: Invocation): Promise<Outcome> {
    const command = byName.get(asked.command);
    if (!command) throw new UserError(`There is no command “${asked.command}”.`);
    const { person, settings } = await (asked.action?.name === 'cancel'
      ? admit({ ...asked, command: OPEN_TO_ALL })
      : enter(command, asked));
    const invocation = { ...asked, person };
    const { address, person: platformPerson } = asked;
    const tools = guarded(
      context({ address, person, platformPerson, settings, invocation }),
      command,
      asked,
      settings,
    );
    const control = invocation.action && command.controls?.[invocation.action.name];
    if (control) return control(invocation, tools);
    if (invocation.action) return act(command, invocation, invocation.action, tools);
    const { options: declarations, run } = partOf(command, invocation.subcommand);
    const options = validateOptions(invocation.options, declarations);
    // validateOptions made the values that this very declaration describes.
    return run({ ...invocation, options } as CommandInvocation<OptionDeclarations>, tools);
  }

  return {
    commands,

    async run(invocation) {
      try {
        return await answer(invocation);
      } catch (error) {
        const reference = newReference();
        const message = toMessage(error, { log, reference });
        const { option, refusedUntil } = error instanceof UserError ? error : {};
        return {
          type: 'message',
          visibility: 'person',
          message,
          ...(option === undefined ? {} : { option }),
          ...(refusedUntil === undefined ? {} : { refusedUntil }),
        };
      }
    },

    async refusal(asking) {
      try {
        await admit(asking);
        return undefined;
      } catch (error) {
        return toMessage(error, { log, reference: newReference() });
      }
    },

    ...(home && {
      async home({ address, person: asking }: HomeRequest) {
        try {
          // Like help, it is open to all: access is checked when something on it is used.
          const admitted = await admit({ command: OPEN_TO_ALL, address, person: asking });
          const tools = context({ ...admitted, address, platformPerson: asking });
          return await home({ address, person: admitted.person }, tools);
        } catch (error) {
          return [toMessage(error, { log, reference: newReference() })];
        }
      },
    }),

    async suggest(request) {
      try {
        const command = byName.get(request.command);
        if (!command) return [];
        const { address, person: platformPerson } = request;
        const { person, settings } = await enter(command, request);
        const tools = context({ address, person, platformPerson, settings });
        const choices = await suggestions({ ...request, person }, command, tools);
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
