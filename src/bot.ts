/** Invocation to command to outcome: the one path that every platform shares. */
import type {
  ActionInvocation,
  AnyCommand,
  Choice,
  CommandAction,
  CommandInvocation,
  Context,
  HomeRequest,
  HomeSection,
  Invocation,
  Log,
  OptionDeclarations,
  Outcome,
  Person,
  Subcommand,
  SuggestRequest,
} from './command.ts';
import { toMessage, UserError } from './errors.ts';
import { actionId } from './message.ts';
import { validateOptions } from './options.ts';
import type { Bot } from './platforms/platform.ts';
import type { JobView } from './work.ts';

export interface BotOptions {
  readonly commands: readonly AnyCommand[];
  /**
   * The one place that decides who may use what, asked at every door: commands, buttons, forms, completions, tools, talk.
   * Resolves to who the person is here (somebody may have been named a moderator); throws UserError with the reason.
   */
  readonly admit: (asking: Pick<Invocation, 'command' | 'address' | 'person'>) => Promise<Person>;
  /** The tools of one invocation. `platformPerson` is as the platform knows them, whoever moderators made of them. */
  readonly context: (
    invocation: Pick<Invocation, 'address' | 'person'> & {
      readonly invocation?: Invocation;
      readonly platformPerson: Person;
    },
  ) => Context;
  /** What people see of the bot in a place of their own; absent where there is none. */
  readonly home?: (request: HomeRequest, tools: Context) => Promise<readonly HomeSection[]>;
  /** Where it is kept that somebody was told to wait; absent where nobody is. */
  readonly promises?: {
    make(invocation: Invocation): Promise<void>;
    takeBack(invocation: Invocation): Promise<void>;
  };
  /** A new reference for a log line. */
  readonly newReference: () => string;
  readonly log: Log;
}

/** Discord and Slack show at most this many completions. */
const MOST_SUGGESTIONS = 25;

export function createBot(options: BotOptions): Bot {
  const { commands, admit, context, home, promises, newReference, log } = options;
  /** What runs and what was promised of it, so that a promise which is stored late is taken back all the same. */
  const running = new Set<Invocation>();
  const promised = new Set<Invocation>();
  const byName = new Map(commands.map((command) => [command.name, command]));

  /** Throws UserError when the person may not use the command here. */
  const enter = ({ name }: AnyCommand, { address, person }: Pick<Invocation, 'address' | 'person'>) =>
    admit({ command: name, address, person });

  /** Work of another command, as a button may start it, passes that command's door too. */
  function guarded(tools: Context, command: AnyCommand, asking: Invocation): Context {
    return {
      ...tools,
      jobs: {
        ...tools.jobs,
        async start(request) {
          const other = request.command === undefined ? undefined : byName.get(request.command);
          if (other && other !== command) await enter(other, asking);
          return tools.jobs.start(request);
        },
      },
    };
  }

  /** A notice that cannot be taken back is told after the next restart: rather once too often than not at all. */
  async function takeBack(invocation: Invocation): Promise<void> {
    if (!promised.delete(invocation)) return;
    await promises?.takeBack(invocation).catch((error: unknown) => {
      log.warn({ err: error }, 'A promise that was kept could not be taken back');
    });
  }

  async function answer(asked: Invocation): Promise<Outcome> {
    const command = byName.get(asked.command);
    if (!command) throw new UserError(`There is no command “${asked.command}”.`);
    const invocation = { ...asked, person: await enter(command, asked) };
    const tools = guarded(
      context({ ...invocation, invocation, platformPerson: asked.person }),
      command,
      asked,
    );
    if (invocation.action) return act(command, invocation, invocation.action, tools);
    const { options: declarations, run } = partOf(command, invocation.subcommand);
    const options = validateOptions(invocation.options, declarations);
    // validateOptions made the values that this very declaration promises.
    return run({ ...invocation, options } as CommandInvocation<OptionDeclarations>, tools);
  }

  return {
    commands,

    async run(invocation) {
      running.add(invocation);
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
      } finally {
        running.delete(invocation);
        await takeBack(invocation);
      }
    },

    ...(promises && {
      async promise(invocation: Invocation) {
        try {
          await promises.make(invocation);
        } catch (error) {
          log.error({ err: error }, 'It could not be kept that somebody waits, so nothing was acknowledged');
          return false;
        }
        promised.add(invocation);
        if (!running.has(invocation)) await takeBack(invocation);
        return true;
      },
    }),

    ...(home && {
      async home({ address, person: asking }: HomeRequest) {
        try {
          // Like help, nobody is kept from it: what it offers is asked about when it is used.
          const person = await admit({ command: 'minstrel', address, person: asking });
          const tools = context({ address, person, platformPerson: asking });
          return await home({ address, person }, tools);
        } catch (error) {
          return [toMessage(error, { log, reference: newReference() })];
        }
      },
    }),

    async suggest(request) {
      try {
        const command = byName.get(request.command);
        if (!command) return [];
        const person = await enter(command, request);
        const tools = context({ ...request, person, platformPerson: request.person });
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
  const { address, person } = invocation;
  // What could be shown nowhere is the person's own, and its server may be gone.
  const isHomeless = job.unplaced === true && job.person.id === person.id;
  if (job.address.platform !== address.platform || (job.address.guild !== address.guild && !isHomeless)) {
    throw new UserError('This button belongs to another server.');
  }
  switch (name) {
    case 'cancel':
      return cancel(job, invocation, context);
    case 'show': {
      const shown = await context.jobs.showHere(job.id);
      if (shown) return shown;
      if (await context.jobs.reveal(job.id)) return quietly('Here it comes.');
      throw new UserError('There is nothing to show.');
    }
    case 'again':
      return context.jobs.start({
        work: job.work,
        title: job.title,
        ...(job.parent ? { parent: job.parent } : {}),
        ...(job.madeFrom ? { madeFrom: job.madeFrom } : {}),
      });
    default: {
      const action = command.actions?.[name];
      if (!action) throw new UserError('This button does nothing any more. Please ask anew.');
      return actOn(action, { ...invocation, job, index }, context);
    }
  }
}

/** A pressed button opens the action's form, if it has one; a sent form runs it. */
async function actOn(
  action: CommandAction,
  invocation: ActionInvocation,
  context: Context,
): Promise<Outcome> {
  if (!action.form) return action.run(invocation, context);
  const form = await action.form(invocation, context);
  const { command, action: pressed, index, job } = invocation;
  if (pressed?.sent)
    return action.run({ ...invocation, options: validateOptions(invocation.options, form.options) }, context);
  return {
    type: 'form',
    form: { id: actionId({ command, action: pressed?.name ?? '', job: job.id, index }), ...form },
  };
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
