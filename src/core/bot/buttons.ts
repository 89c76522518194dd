/** Handles the buttons of jobs, and the forms they open. */
import { notModerator, UserError } from '../errors.ts';
import type { Invocation } from '../invocation.ts';
import { buttonRefusal, type JobView } from '../job.ts';
import { actionId } from '../message.ts';
import { namingFields, validateOptions } from '../options.ts';
import { own } from '../util/own.ts';
import { present } from '../util/present.ts';
import type { ActionInvocation, AnyCommand, CommandAction } from './command.ts';
import type { Context } from './context.ts';
import { confirm, type Outcome } from './outcome.ts';

/** Handles a button of a job. **Cancel**, **Show it** and **Again** work for every command; other buttons belong to the command. */
export async function act(
  command: AnyCommand,
  invocation: Invocation,
  { name, job: id, index }: NonNullable<Invocation['action']>,
  context: Context,
): Promise<Outcome> {
  const job = await context.jobs.find(id);
  if (!job) throw new UserError('This button no longer works. Use the command again.');
  const reason = buttonRefusal(job, name, invocation);
  if (reason !== undefined) throw new UserError(reason);
  switch (name) {
    case 'cancel':
      return cancel(job, invocation, context);
    case 'show': {
      const outcome = await context.jobs.showHere(job.id);
      if (outcome) return outcome;
      if (await context.jobs.reveal(job.id)) return confirm('It will appear in a moment.');
      throw new UserError('There is nothing left to show.');
    }
    case 'again': {
      const request = present({
        work: (await command.again?.(job, context)) ?? job.work,
        title: job.title,
        parent: job.parent,
        basedOn: job.basedOn,
        options: job.options,
      });
      return (await context.contests.enterAgain(job, request)) ?? context.jobs.start(request);
    }
    default: {
      const action = own(command.actions, name);
      if (!action) throw new UserError('This button no longer works. Use the command again.');
      return actOn(action, { ...invocation, job, index }, context);
    }
  }
}

/** Opens the action's form if it has one. Otherwise, or when the form is sent, runs the action. */
async function actOn(
  action: CommandAction,
  invocation: ActionInvocation,
  context: Context,
): Promise<Outcome> {
  if (!action.form) return action.run(invocation, context);
  const form = await action.form(invocation, context);
  const { command, action: pressed, index, job } = invocation;
  if (invocation.isForm)
    return namingFields(form.options, async () => {
      const options = validateOptions(invocation.options, form.options);
      return action.run({ ...invocation, options }, context);
    });
  return {
    type: 'form',
    form: { id: actionId({ command, action: pressed?.name ?? '', job: job.id, index }), ...form },
  };
}

async function cancel(job: JobView, { person }: Invocation, context: Context): Promise<Outcome> {
  if (person.id !== job.person.id && !person.moderator) {
    throw notModerator(person, 'Only a moderator or the person who requested this can cancel it.');
  }
  if (await context.jobs.cancel(job.id)) return confirm('Cancelling.');
  throw new UserError('This has already finished.');
}
