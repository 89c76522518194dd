/** Decodes the command or action in the id of a button or form. */
import type { Invocation } from '../../core/invocation.ts';
import { parseActionId } from '../../core/message.ts';

export type Target = Pick<Invocation, 'command' | 'subcommand' | 'action' | 'isForm'>;

/** The target of a pressed button; undefined if the id is not an action. */
export function buttonTarget(id: string): Target | undefined {
  const reference = parseActionId(id);
  if (reference === undefined) return undefined;
  const { command, action: name, job, index } = reference;
  return { command, action: { name, job, index } };
}

/** The target of a submitted form: an action, a command or a subcommand, as in `models set`. */
export function formTarget(id: string): Target {
  const target = buttonTarget(id);
  if (target) return { ...target, isForm: true };
  const [command = id, subcommand] = id.split(' ');
  return { command, subcommand, isForm: true };
}
