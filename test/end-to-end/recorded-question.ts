import { z } from 'zod';
import type { RecordedRequest } from '../../src/emulator/options.ts';

const bodySchema = z.object({
  messages: z.array(
    z.object({
      content: z.union([
        z.string(),
        z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
      ]),
    }),
  ),
});

/** The first question among requests to the chat or msg route, one entry for each part of each turn; undefined without one. */
export function recordedQuestion(requests: readonly RecordedRequest[]): string[] | undefined {
  const question = requests.find(({ url }) => /\/(chat|msg)\/v1\/(chat\/completions|messages)/.test(url));
  if (question === undefined) return undefined;
  return bodySchema
    .parse(question.body)
    .messages.flatMap(({ content }) =>
      typeof content === 'string' ? [content] : content.map(({ type, text }) => text ?? `[${type}]`),
    );
}
