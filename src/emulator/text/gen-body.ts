import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import type { Picture, Turn } from './conversation.ts';

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
/** Gen-style requests (contract: gen-style request; thinking as the public API has it). */
export const genBody = z.looseObject({
  contents: z.array(content).min(1),
  systemInstruction: z.looseObject({ parts: z.array(part) }).optional(),
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

/** The conversation of a gen-style body. Refuses one without any text or picture of the user. */
export function readGenTurns(body: GenBody): Turn[] {
  const turns = body.contents.map(({ role, parts }): Turn => {
    const pictures = parts.flatMap(({ inlineData }): Picture[] =>
      inlineData === undefined
        ? []
        : [
            {
              kind: 'bytes',
              claimedType: inlineData.mimeType,
              bytes: Buffer.from(inlineData.data, 'base64'),
            },
          ],
    );
    const text = parts
      .flatMap((one) => (one.text === undefined || one.thought === true ? [] : [one.text]))
      .join('\n');
    return { role: role === 'model' ? 'assistant' : 'user', text, pictures };
  });
  const hasAsked = body.contents.some(({ parts }) =>
    parts.some((one) => (one.text ?? '') !== '' || one.inlineData !== undefined),
  );
  if (!hasAsked) throw new Refusal('invalid', 'contents: at least one part needs text');
  const system = body.systemInstruction?.parts.flatMap((one) => one.text ?? []).join('\n');
  return system === undefined ? turns : [{ role: 'system', text: system, pictures: [] }, ...turns];
}
