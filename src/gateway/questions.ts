import { z } from 'zod';
import { type Part, part, type Question, type Turn, toolDeclaration } from './answers.ts';
import { invalid } from './failures.ts';
import { checked } from './request.ts';
import type { RouteName } from './routes.ts';

/** Contract, "Chat-style request", "Messages-style request" and "Gen-style request", before one of them is chosen. */
const questionSchema: z.ZodType<Question> = z.object({
  model: z.string().trim().min(1),
  system: z.string().optional(),
  turns: z.array(z.object({ role: z.enum(['user', 'assistant']), parts: z.array(part) })),
  maxTokens: z.int().positive().optional(),
  temperature: z.number().min(0).optional(),
  tools: z.array(toolDeclaration).optional(),
});

/**
 * A question as the dialects can say it: empty parts left out, neighbouring turns of one role made one, a user's turn
 * first. Throws GatewayError `invalid` when nothing is asked.
 */
export function checkedTurns(route: RouteName, question: Question): Turn[] {
  const turns: Turn[] = [];
  for (const { role, parts } of checked(route, questionSchema, question).turns) {
    const said = parts.filter((each) => each.type !== 'text' || each.text.trim() !== '');
    if (said.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...said] };
    else turns.push({ role, parts: said });
  }
  if (turns.every(({ role }) => role !== 'user')) throw invalid(route, 'a question needs a turn of the user');
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', parts: [{ type: 'text', text: '(continued)' }] });
  return turns;
}

/**
 * The system prompt as the first words of the user. The contract shows no system field for msg and gen, so it goes
 * where every model behind these routes must read it.
 */
export function withSystemFirst(turns: readonly Turn[], system: string | undefined): Turn[] {
  if (system === undefined || system.trim() === '') return [...turns];
  const [first, ...rest] = turns;
  const opening: Part = { type: 'text', text: system };
  return [{ role: 'user', parts: [opening, ...(first?.parts ?? [])] }, ...rest];
}

/** Functions belong to gen's own path (contract, "Gen style"); the other routes have no place for them. */
export function refuseTools(route: RouteName, question: Question): void {
  if ((question.tools?.length ?? 0) > 0) throw invalid(route, 'this route takes no tools');
  const hasToolPart = question.turns.some(({ parts }) =>
    parts.some(({ type }) => type === 'tool-call' || type === 'tool-result'),
  );
  if (hasToolPart) throw invalid(route, 'this route takes no tool calls and results');
}
