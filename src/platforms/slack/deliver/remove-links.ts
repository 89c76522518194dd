import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Posted } from '../../platform.ts';
import { call, readMessages } from '../connection/client.ts';
import { slackErrorOf, toPlatformError } from '../errors.ts';
import { type Post, readPosted } from './post.ts';

const actionsSchema = z.looseObject({
  type: z.literal('actions'),
  elements: z.array(z.looseObject({ url: z.string().optional() })),
});
const messageSchema = z.object({
  ts: z.string(),
  text: z.string().catch(''),
  blocks: z.array(z.looseObject({ type: z.string() })).catch([]),
});

/** See Platform.removeLinks: what may not be read or edited any more keeps its buttons. */
export async function removeSlackLinks(
  { channel, thread }: Address,
  posted: Posted,
  page: string,
  tools: Post['tools'],
): Promise<void> {
  const state = readPosted(posted, channel);
  const [first] = state.parts;
  if (first?.ts === undefined) return;
  const written = new Set(state.parts.map(({ ts }) => ts));
  try {
    const read = await readMessages({ channel: state.channel, thread: thread ?? first.ts }, tools);
    for (const { ts, text, blocks } of z.array(messageSchema).parse(read)) {
      const left = blocks.flatMap((block) => withoutLinks(block, page));
      if (!written.has(ts) || JSON.stringify(left) === JSON.stringify(blocks)) continue;
      const update = { channel: state.channel, ts, text, blocks: left };
      const rate = tools.rates.editsIn(state.channel);
      await call(() => tools.web.chat.update(update), { repeatable: true, rate }, tools);
    }
  } catch (error) {
    if (slackErrorOf(error) === undefined) throw toPlatformError(error, { botName: tools.botName() });
  }
}

function withoutLinks(block: { type: string }, page: string): { type: string }[] {
  const actions = actionsSchema.safeParse(block).data;
  if (!actions) return [block];
  const elements = actions.elements.filter(({ url }) => !url?.startsWith(page));
  const left = { ...actions, elements };
  return elements.length === 0 ? [] : [left];
}
