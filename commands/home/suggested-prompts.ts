/** What a person could say here in plain words: one example for each command that they may use so. */
import type { AnyCommand, SuggestedPrompt } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { UserError } from '../../src/core/errors.ts';
import type { AnswerPlan } from '../../src/core/work.ts';
import { planAnswer } from '../ask/plan.ts';
import { ask } from '../ask.ts';

export interface PromptOptions {
  readonly context: Context;
  readonly commands: readonly AnyCommand[];
  /** Whether the person may use a command of this name here. */
  readonly isAllowed: (command: string) => Promise<boolean>;
}

/** None where no model would answer. */
export async function suggestedPrompts({
  context,
  commands,
  isAllowed,
}: PromptOptions): Promise<SuggestedPrompt[]> {
  const plan = await planOf(context);
  if (plan === undefined || !(await isAllowed(ask.name))) return [];
  const usable = new Set([ask.name, ...(plan.way?.type === 'tools' ? plan.way.commands : [])]);
  const found: SuggestedPrompt[] = [];
  for (const { name, suggestion } of commands)
    if (suggestion !== undefined && usable.has(name) && (await isAllowed(name))) found.push(suggestion);
  return found;
}

/** How a question without more would be answered; undefined while no model is chosen. */
async function planOf(context: Context): Promise<AnswerPlan | undefined> {
  try {
    return await planAnswer({ named: undefined, picture: 'none' }, context);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
