import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Posted } from '../../platform.ts';
import { call, readMessages } from '../connection/client.ts';
import { slackErrorOf, slackReasonsOf, toPlatformError } from '../errors.ts';
import { type Post, readPosted } from './post.ts';

const actionsSchema = z.looseObject({
  type: z.literal('actions'),
  elements: z.array(z.looseObject({ url: z.string().optional() })),
});
const pictureSchema = z.object({
  type: z.literal('image'),
  block_id: z.string().optional(),
  alt_text: z.string(),
  title: z.unknown().optional(),
  image_url: z.string().optional(),
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
  const files = Object.values(state.files).flatMap(({ id }) => id ?? []);
  try {
    const read = await readMessages({ channel: state.channel, thread: thread ?? first.ts }, tools);
    for (const { ts, text, blocks } of z.array(messageSchema).parse(read)) {
      const left = blocks.flatMap((block) => withoutLinks(block, page));
      if (!written.has(ts) || JSON.stringify(left) === JSON.stringify(blocks)) continue;
      const update = {
        channel: state.channel,
        ts,
        text,
        blocks: left.map((block) => asWritten(block, files)),
      };
      const rate = tools.rates.editsIn(state.channel);
      await call(() => tools.web.chat.update(update), { repeatable: true, rate }, tools);
    }
  } catch (error) {
    if (slackErrorOf(error) === undefined) throw toPlatformError(error, { botName: tools.botName() });
    tools.log.warn({ err: error, reasons: slackReasonsOf(error) }, 'Links stay in a message of Slack');
  }
}

type Block = z.infer<typeof messageSchema>['blocks'][number];

/** A block that was read, as Slack takes it. */
function asWritten(block: Block, files: readonly string[]): Block {
  const { accessory, ...rest } = block;
  const inside = pictureOf(accessory, files) ?? accessory;
  return pictureOf(block, files) ?? (inside === undefined ? rest : { ...rest, accessory: inside });
}

/**
 * Undefined for anything but a picture. Slack gives pictures back with properties that it does not take
 * (https://github.com/slackapi/bolt-js/issues/1841), and uploaded ones by their address, which it may not take either
 * (https://github.com/slackapi/python-slack-sdk/issues/1511).
 */
function pictureOf(read: unknown, files: readonly string[]): Block | undefined {
  const { data } = pictureSchema.safeParse(read);
  if (!data) return undefined;
  const id = files.find((known) => JSON.stringify(read).includes(known));
  const { image_url: url, ...picture } = data;
  return { ...picture, ...(id === undefined ? { image_url: url } : { slack_file: { id } }) };
}

function withoutLinks(block: Block, page: string): Block[] {
  const actions = actionsSchema.safeParse(block).data;
  if (!actions) return [block];
  const elements = actions.elements.filter(({ url }) => !url?.startsWith(page));
  if (elements.length === actions.elements.length) return [block];
  return elements.length === 0 ? [] : [{ ...actions, elements }];
}
