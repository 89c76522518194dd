/** Finds in Slack what a try posted that was interrupted, or that heard no answer. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import type { Posted } from '../../platform.ts';
import { readMessages } from '../connection/channels.ts';
import { slackErrorOf, toPlatformError } from '../errors.ts';
import { isPosted, layoutOf, type Post, readPosted } from './post.ts';

const EVENT_TYPE = 'minstrel_post';
/** Messages of a channel that are searched. A thread is searched to its newest message. */
const SEARCHED = 200;

/** A message of a post: its number, or a reply that mentions the person, for a result that is ready or incomplete. */
export type PartName = number | 'mention' | 'incomplete';

/**
 * What messages of ours carry, unseen: which post it is, which part of it, and the digest of what it shows. Streams and shared
 * files cannot.
 */
export function markOf({ key }: Post, part: PartName, digest?: string): webApi.MessageMetadata {
  return { event_type: EVENT_TYPE, event_payload: { key, part, ...present({ digest }) } };
}

const markSchema = z
  .object({
    event_type: z.literal(EVENT_TYPE),
    event_payload: z.object({
      key: z.string(),
      part: z.union([z.number(), z.string()]).optional(),
      digest: z.string().optional(),
    }),
  })
  .transform(({ event_payload: mark }) => mark);

/** The key of the post that a message of ours belongs to, by its metadata. */
export const postKeyOf = (metadata: unknown): string | undefined => markSchema.safeParse(metadata).data?.key;

const messagesSchema = z.array(
  z.object({
    ts: z.string(),
    user: z.string().optional(),
    text: z.string().catch(''),
    files: z
      .array(z.object({ id: z.string(), name: z.string().catch(''), size: z.number().catch(0) }))
      .catch([]),
    metadata: markSchema.optional().catch(undefined),
  }),
);

/** Every first message that carries the post's mark. Throws the SDK's errors. */
export async function firstMessages({ state: { channel }, key, address, tools }: Post): Promise<string[]> {
  const options = { channel, thread: address.thread, newest: SEARCHED, include_all_metadata: true } as const;
  return messagesSchema
    .parse(await readMessages(options, tools))
    .flatMap(({ ts, metadata: mark }) => (mark?.key === key && mark.part === 0 ? [ts] : []));
}

/** See Platform.offers. Throws PlatformError. */
export async function offersAction(
  { channel, thread }: Address,
  posted: Posted,
  action: string,
  tools: Post['tools'],
): Promise<boolean | undefined> {
  const state = readPosted(posted, channel);
  const ts = state.parts[0]?.ts;
  if (ts === undefined) return undefined;
  try {
    const read = await readMessages({ channel: state.channel, thread: thread ?? ts }, tools);
    const message = read.find((one) => z.object({ ts: z.literal(ts) }).safeParse(one).success);
    return message === undefined ? undefined : JSON.stringify(message).includes(JSON.stringify(action));
  } catch (error) {
    // A channel without the bot, or a missing scope.
    if (slackErrorOf(error) !== undefined) return undefined;
    throw toPlatformError(error, tools);
  }
}

/** Adds what is found to the state. Nothing is found where the channel may not be read. */
export async function findPosted(post: Post): Promise<void> {
  try {
    if (!isPosted(post)) await take(post, post.threadOf(0));
    if (isPosted(post)) await take(post, post.threadOf(1));
  } catch (error) {
    // A channel without the bot, or a missing scope: then it was not posted there either.
    if (slackErrorOf(error) === undefined) throw error;
    post.tools.log.warn({ err: error }, 'Could not check which messages were posted');
  }
}

async function take({ state, key, address, found, tools }: Post, thread: string | undefined): Promise<void> {
  const { channel, parts, files, replaced = [] } = state;
  const oldest = parts[0]?.ts;
  const options = {
    channel,
    thread,
    newest: SEARCHED,
    include_all_metadata: true,
    ...present({ oldest }),
  } as const;
  const read = await readMessages(options, tools);
  const { botUser } = await tools.identity.read();
  /** The post that began last before the message: what is streamed below it is its own. */
  let begun = oldest === undefined ? undefined : key;
  for (const { ts, user, text, files: shared, metadata: mark } of messagesSchema.parse(read)) {
    if (mark?.part === 0) begun = mark.key;
    if (mark?.key === key) {
      const { part, digest } = mark;
      if (part === 'mention') state.called = true;
      if (part === 'incomplete') state.calledIncomplete = true;
      if (typeof part !== 'number' || parts[part]?.ts !== undefined || replaced.includes(ts)) continue;
      while (parts.length < part) parts.push({});
      parts[part] = { ts, ...present({ digest }) };
    }
    if (mark !== undefined || user !== botUser || oldest === undefined || ts === thread) continue;
    found.push(...shared.map((file) => ({ ...file, called: text.includes(`<@${address.person}>`) })));
    // Unfinished streams are the messages without a mark, a file and a mention.
    const isKnown = parts.some((part) => part.ts === ts) || shared.length > 0 || text.startsWith('<@');
    if (isKnown || begun !== key) continue;
    const unknown = parts.findIndex((part) => part.ts === undefined);
    parts[unknown === -1 ? parts.length : unknown] = { ts };
    if (layoutOf(address) === 'channel') state.inThread = true;
  }
  for (const [name, file] of Object.entries(files)) {
    const index = found.findIndex(({ id }) => id === file.id);
    const [shared] = index === -1 ? [] : found.splice(index, 1);
    if (shared) {
      files[name] = { ...file, state: 'shared' };
      state.called ||= shared.called;
    } else if (file.state === 'sharing') files[name] = { ...file, state: 'uploaded' };
  }
}
