import { z } from 'zod';
import { RefusedRequest } from '../requests.ts';
import { type ConversationMessage, messageOf, pictureOf } from './conversation.ts';

const part = z
  .looseObject({
    text: z.string().optional(),
    inlineData: z.object({ mimeType: z.string(), data: z.string() }).optional(),
    functionCall: z
      .looseObject({ name: z.string(), args: z.record(z.string(), z.unknown()).optional() })
      .optional(),
    functionResponse: z
      .looseObject({ name: z.string(), response: z.record(z.string(), z.unknown()) })
      .optional(),
    thought: z.boolean().optional(),
  })
  .refine(
    (value) =>
      [value.text, value.inlineData, value.functionCall, value.functionResponse].some(
        (member) => member !== undefined,
      ),
    { error: 'a part needs text (or inlineData, functionCall, functionResponse)' },
  );
const content = z.looseObject({
  role: z.enum(['user', 'model', 'function']).optional(),
  parts: z.array(part).min(1),
});
const functionDeclaration = z.looseObject({
  name: z.string().regex(/^[\w.:-]{1,64}$/, 'must be a function name'),
  description: z.string(),
  parameters: z
    .looseObject({
      type: z.string(),
      properties: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
      required: z.array(z.string()).default([]),
    })
    .optional(),
});
/** Gen-style requests (contract: gen-style request; thinking as in the public API). */
export const genBody = z.looseObject({
  contents: z.array(content).min(1),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(functionDeclaration).optional() })).optional(),
  generationConfig: z
    .looseObject({
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE', 'AUDIO'])).optional(),
      maxOutputTokens: z.int().positive().optional(),
      thinkingConfig: z
        .looseObject({
          thinkingBudget: z.int().min(-1).max(24_576).optional(),
          includeThoughts: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
});
export type GenBody = z.output<typeof genBody>;
export type FunctionDeclaration = z.output<typeof functionDeclaration>;

/** Reads the conversation of a gen-style body. Throws RefusedRequest without any text or image. */
export function readContents({ contents }: GenBody): readonly ConversationMessage[] {
  const hasContent = contents.some(({ parts }) =>
    parts.some(({ text, inlineData }) => (text ?? '') !== '' || inlineData !== undefined),
  );
  if (!hasContent) throw new RefusedRequest('invalid', 'contents: at least one part needs text');
  return contents.map(({ role, parts }) =>
    messageOf(
      role === 'model' ? 'assistant' : 'user',
      parts.flatMap(({ text, inlineData, thought }) => [
        ...(text === undefined || thought === true ? [] : [text]),
        ...(inlineData === undefined ? [] : [pictureOf(inlineData.mimeType, inlineData.data)]),
      ]),
    ),
  );
}
