/** Finds the messages of an earlier try that was interrupted or got no answer. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import type { PostState } from '../../platform.ts';
import { readMessages } from '../connection/channels.ts';
import { slackErrorOf, toPlatformError } from '../errors.ts';
import { isPosted, layoutOf, type Post, readPosted } from './post.ts';

const EVENT_TYPE = 'minstrel_post';
/** The number of messages to search in a channel. A thread is searched to its end. */
const SEARCH_LIMIT = 200;

/** A message of a post: its index, or the reply that mentions the requester of a finished or incomplete result. */
export type PartName = number | 'mention' | 'incomplete';

/**
 * Hidden metadata of the bot's messages: the post, the part, and a digest of the content. Streams and shared files have none.
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

/** The key of the post that a message belongs to, from its metadata. */
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

/** Every first message with the post's mark. Throws the SDK's errors. */
export async function firstMessages({ state: { channel }, key, address, tools }: Post): Promise<string[]> {
  const options = {
    channel,
    thread: address.thread,
    newest: SEARCH_LIMIT,
    include_all_metadata: true,
  } as const;
  return messagesSchema
    .parse(await readMessages(options, tools))
    .flatMap(({ ts, metadata: mark }) => (mark?.key === key && mark.part === 0 ? [ts] : []));
}

/** See Platform.offers. Throws PlatformError. */
export async function offersAction(
  { channel, thread }: Address,
  posted: PostState,
  action: string,
  tools: Post['tools'],
): Promise<boolean | undefined> {
  const state = readPosted(posted, channel);
  const ts = state.parts[0]?.ts;
  if (ts === undefined) return undefined;
  try {
    const read = await readMessages({ channel: state.channel, thread: thread ?? ts }, tools);
    const message = read.find((candidate) => z.object({ ts: z.literal(ts) }).safeParse(candidate).success);
    return message === undefined ? undefined : JSON.stringify(message).includes(JSON.stringify(action));
  } catch (error) {
    // The bot is not in the channel, or a scope is missing.
    if (slackErrorOf(error) !== undefined) return undefined;
    throw toPlatformError(error, tools);
  }
}

/** Adds the messages found to the state. Finds nothing if the bot may not read the channel. */
export async function findPosted(post: Post): Promise<void> {
  try {
    if (!isPosted(post)) await searchThread(post, post.threadOf(0));
    if (isPosted(post)) await searchThread(post, post.threadOf(1));
  } catch (error) {
    // The bot is not in the channel, or a scope is missing. Then nothing was posted either.
    if (slackErrorOf(error) === undefined) throw error;
    post.tools.log.warn({ err: error }, 'Could not check which messages were posted');
  }
}

async function searchThread(
  { state, key, address, found, tools }: Post,
  thread: string | undefined,
): Promise<void> {
  const { channel, parts, files, replaced = [] } = state;
  const oldest = parts[0]?.ts;
  const options = {
    channel,
    thread,
    newest: SEARCH_LIMIT,
    include_all_metadata: true,
    ...present({ oldest }),
  } as const;
  const read = await readMessages(options, tools);
  const { botUser } = await tools.identity.read();
  /** The latest post that started above the message. Streams below it belong to it. */
  let currentKey = oldest === undefined ? undefined : key;
  for (const { ts, user, text, files: shared, metadata: mark } of messagesSchema.parse(read)) {
    if (mark?.part === 0) currentKey = mark.key;
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
    // Unfinished streams have no mark, no file and no mention.
    const isKnown = parts.some((part) => part.ts === ts) || shared.length > 0 || text.startsWith('<@');
    if (isKnown || currentKey !== key) continue;
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
