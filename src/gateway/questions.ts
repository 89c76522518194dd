import { z } from 'zod';
import type { RouteName } from './routes.ts';
import { invalid } from './transport/errors.ts';
import { checked } from './transport/request.ts';

/** A function's declaration: contract, "Gen-style request", `tools[].functionDeclarations[]`. */
const toolDeclaration = z.object({
  name: z.string().min(1),
  description: z.string(),
  parameters: z.object({
    type: z.string(),
    properties: z.record(z.string(), z.object({ type: z.string(), description: z.string() })),
    required: z.array(z.string()).readonly(),
  }),
});
export type ToolDeclaration = z.infer<typeof toolDeclaration>;

const anyMembers = z.record(z.string(), z.unknown());

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    mimeType: z.string().regex(/^image\/[\w.+-]+$/),
    /** Base64. */
    data: z.string().min(1),
  }),
  z.object({
    type: z.literal('tool-call'),
    name: z.string().min(1),
    arguments: anyMembers,
    id: z.string().optional(),
    signature: z.string().optional(),
  }),
  z.object({
    type: z.literal('tool-result'),
    name: z.string().min(1),
    result: anyMembers,
    id: z.string().optional(),
  }),
]);
export type TurnPart = z.infer<typeof part>;

const turn = z.object({ role: z.enum(['user', 'assistant']), parts: z.array(part).readonly() });
export type Turn = z.infer<typeof turn>;

/** A question in any dialect: contract, "Chat-style request", "Messages-style request" and "Gen-style request". */
const question = z.object({
  model: z.string().trim().min(1),
  system: z.string().optional(),
  turns: z.array(turn).readonly(),
  /** Maximum number of output tokens. */
  maxTokens: z.int().positive().optional(),
  /** Functions the model may call; only `gen.callTools` takes them. */
  tools: z.array(toolDeclaration).readonly().optional(),
});
export type Question = z.infer<typeof question>;

/**
 * Normalises the turns for every dialect: removes empty parts, merges adjacent turns of one role, and starts with a user
 * turn. Throws GatewayError `invalid` if there is no user turn.
 */
export function checkedTurns(route: RouteName, input: Question): Turn[] {
  const turns: Turn[] = [];
  for (const { role, parts } of checked(route, question, input).turns) {
    const nonEmpty = parts.filter((each) => each.type !== 'text' || each.text.trim() !== '');
    if (nonEmpty.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...nonEmpty] };
    else turns.push({ role, parts: nonEmpty });
  }
  if (turns.every(({ role }) => role !== 'user'))
    throw invalid(route, 'the conversation has no message from the user');
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', parts: [{ type: 'text', text: '(continued)' }] });
  return turns;
}
