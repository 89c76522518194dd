/** Suggested prompts: one example per command that the person can trigger with a question. */
import type { AnyCommand, SuggestedPrompt } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { UserError } from '../../src/core/errors.ts';
import type { AnswerPlan } from '../../src/core/work.ts';
import { planAnswer } from '../ask/plan.ts';
import { ask } from '../ask.ts';

export interface PromptOptions {
  readonly context: Context;
  readonly commands: readonly AnyCommand[];
  /** Whether the person may use the command here. */
  readonly isAllowed: (command: string) => Promise<boolean>;
}

/** Empty if no model can answer. */
export async function suggestedPrompts({
  context,
  commands,
  isAllowed,
}: PromptOptions): Promise<SuggestedPrompt[]> {
  const plan = await planOf(context);
  if (plan === undefined || !(await isAllowed(ask.name))) return [];
  const callable = new Set([ask.name, ...(plan.way?.type === 'tools' ? plan.way.commands : [])]);
  const prompts: SuggestedPrompt[] = [];
  for (const { name, suggestion } of commands)
    if (suggestion !== undefined && callable.has(name) && (await isAllowed(name))) prompts.push(suggestion);
  return prompts;
}

/** The plan for a bare question, or undefined if no model is chosen. */
async function planOf(context: Context): Promise<AnswerPlan | undefined> {
  try {
    return await planAnswer({ requestedModel: undefined, picture: 'none' }, context);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
