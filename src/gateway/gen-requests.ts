import { z } from 'zod';
import { type Part, type Question, toolDeclaration } from './answers.ts';
import { invalid } from './failures.ts';
import { checkedTurns, refuseTools, withSystemFirst } from './questions.ts';
import { checked } from './request.ts';
import { anyMembers } from './responses.ts';

export type GenRoute = 'gen/generate' | 'gen/stream' | 'gen/image' | 'gen/tools' | 'gen/think';

const part = z.union([
  z.object({ text: z.string() }),
  z.object({ inlineData: z.object({ mimeType: z.string(), data: z.string() }) }),
  z.object({
    functionCall: z.object({ name: z.string(), args: anyMembers, id: z.string().optional() }),
    thoughtSignature: z.string().optional(),
  }),
  z.object({
    functionResponse: z.object({ name: z.string(), response: anyMembers, id: z.string().optional() }),
  }),
]);

/**
 * The body of every gen-style route: contract, "Gen-style request (`gen`)". `maxOutputTokens`, `temperature` and
 * `thinkingConfig`, and the parts besides text, are the public API's names
 * (https://ai.google.dev/api/generate-content), sent only when asked for.
 */
const genRequest = z.object({
  contents: z.array(z.object({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) })).min(1),
  tools: z.array(z.object({ functionDeclarations: z.array(toolDeclaration) })).optional(),
  generationConfig: z
    .object({
      responseModalities: z.tuple([z.literal('TEXT'), z.literal('IMAGE')]).optional(),
      thinkingConfig: z.object({ thinkingBudget: z.int().min(-1) }).optional(),
      maxOutputTokens: z.int().positive().optional(),
      temperature: z.number().optional(),
    })
    .optional(),
});
type GenRequest = z.infer<typeof genRequest>;

/** What a route adds to the question: contract, "Gen style", the table's last three rows. */
export type GenExtra = Pick<
  NonNullable<GenRequest['generationConfig']>,
  'responseModalities' | 'thinkingConfig'
>;

/** A question as a gen-style request. Throws GatewayError `invalid` for what the route cannot say. */
export function genRequestOf(route: GenRoute, question: Question, extra: GenExtra = {}): GenRequest {
  const functionDeclarations = [...(question.tools ?? [])];
  if (route !== 'gen/tools') refuseTools(route, question);
  else if (functionDeclarations.length === 0) throw invalid(route, 'no tools were declared');
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  const { maxTokens, temperature } = question;
  const configured = maxTokens !== undefined || temperature !== undefined || Object.keys(extra).length > 0;
  return checked<GenRequest>(route, genRequest, {
    contents: turns.map(({ role, parts }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: parts.map(wirePart),
    })),
    tools: route === 'gen/tools' ? [{ functionDeclarations }] : undefined,
    generationConfig: configured ? { ...extra, maxOutputTokens: maxTokens, temperature } : undefined,
  });
}

function wirePart(part: Part): GenRequest['contents'][number]['parts'][number] {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mimeType, data: part.data } };
    case 'tool-call':
      return {
        functionCall: { name: part.name, args: part.arguments, id: part.id },
        thoughtSignature: part.signature,
      };
    case 'tool-result':
      return { functionResponse: { name: part.name, response: part.result, id: part.id } };
    default:
      return part satisfies never;
  }
}
