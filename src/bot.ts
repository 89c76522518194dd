/** Invocation to command to outcome: the one path that every platform shares. */
import type {
  AnyCommand,
  Choice,
  CommandInvocation,
  Context,
  Invocation,
  Log,
  OptionDeclarations,
  Outcome,
  Subcommand,
  SuggestRequest,
} from './command.ts';
import { toMessage, UserError } from './errors.ts';
import { validateOptions } from './options.ts';
import type { Bot } from './platforms/platform.ts';
import type { JobView } from './work.ts';

export interface BotOptions {
  readonly commands: readonly AnyCommand[];
  /** The tools of one invocation. */
  readonly context: (
    invocation: Pick<Invocation, 'address' | 'person'> & { readonly invocation?: Invocation },
  ) => Context;
  /** A new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

/** Discord and Slack show at most this many completions. */
const MOST_SUGGESTIONS = 25;

export function createBot({ commands, context, newReference, log }: BotOptions): Bot {
  const byName = new Map(commands.map((command) => [command.name, command]));

  async function answer(invocation: Invocation): Promise<Outcome> {
    const command = byName.get(invocation.command);
    if (!command) throw new UserError(`There is no command “${invocation.command}”.`);
    if (command.moderatorsOnly && !invocation.person.moderator) {
      throw new UserError(`Only moderators may use /${command.name}.`);
    }
    const tools = context({ ...invocation, invocation });
    if (invocation.action) return act(command, invocation, invocation.action, tools);
    const { options: declarations, run } = partOf(command, invocation.subcommand);
    const options = validateOptions(invocation.options, declarations);
    // validateOptions made the values that this very declaration promises.
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
        const option = error instanceof UserError ? error.option : undefined;
        return {
          type: 'message',
          visibility: 'person',
          message,
          ...(option === undefined ? {} : { option }),
        };
      }
    },

    async suggest(request) {
      try {
        const choices = await suggestions(request, byName.get(request.command), context(request));
        return choices.slice(0, MOST_SUGGESTIONS);
      } catch (error) {
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
  command: AnyCommand | undefined,
  context: Context,
): Promise<readonly Choice[]> {
  const part =
    command && (request.subcommand === undefined ? command : command.subcommands?.[request.subcommand]);
  const option = part?.options[request.option];
  if (option?.type !== 'text' || !option.suggest) return [];
  return option.suggest(request, context);
}

/** A button of a job. Cancel, Show it and Again are every command's; the others are its own. */
async function act(
  command: AnyCommand,
  invocation: Invocation,
  { name, job: id, index }: NonNullable<Invocation['action']>,
  context: Context,
): Promise<Outcome> {
  const job = await context.jobs.find(id);
  if (!job)
    throw new UserError('This is too old: I no longer have what the button belongs to. Please ask anew.');
  if (
    job.address.platform !== invocation.address.platform ||
    job.address.guild !== invocation.address.guild
  ) {
    throw new UserError('This button belongs to another server.');
  }
  switch (name) {
    case 'cancel':
      return cancel(job, invocation, context);
    case 'show':
      if (await context.jobs.reveal(job.id)) return quietly('Here it comes.');
      throw new UserError('There is nothing to show.');
    case 'again':
      return context.jobs.start({
        work: job.work,
        title: job.title,
        ...(job.parent ? { parent: job.parent } : {}),
      });
    default: {
      const action = command.actions?.[name];
      if (!action) throw new UserError('This button does nothing any more. Please ask anew.');
      return action.run({ ...invocation, job, index }, context);
    }
  }
}

async function cancel(job: JobView, { person }: Invocation, context: Context): Promise<Outcome> {
  if (person.id !== job.person.id && !person.moderator) {
    throw new UserError('Only the person who asked, or a moderator, can cancel this.');
  }
  if (await context.jobs.cancel(job.id)) return quietly('Cancelling.');
  throw new UserError('This has already ended.');
}

function quietly(text: string): Outcome {
  return { type: 'message', visibility: 'person', message: { text } };
}
