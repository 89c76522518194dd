/** Finds a message of ours again when the answer to its posting was lost. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../command.ts';
import { call, type SlackTools } from './client.ts';
import { slackErrorOf } from './errors.ts';
import type { IdentityReader } from './identity.ts';

const EVENT_TYPE = 'minstrel_post';
const LOOK_BACK = 100;

/** What every message of ours carries, unseen: which post it is, and which part of it. */
export function markOf(key: string, part: number): webApi.MessageMetadata {
  return { event_type: EVENT_TYPE, event_payload: { key, part } };
}

const messagesSchema = z.array(
  z.object({
    ts: z.string(),
    user: z.string().optional(),
    files: z.array(z.unknown()).catch([]),
    metadata: z
      .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
      .optional()
      .catch(undefined),
  }),
);

/** A message of ours that is in the thread of another one of ours and was not posted: streams carry no mark. */
export async function findStreamed(
  { channel, thread, known }: { channel: string; thread: string; known: readonly string[] },
  tools: SlackTools & { log: Log; identity: IdentityReader },
): Promise<string | undefined> {
  try {
    const { botUser } = await tools.identity.read();
    const { messages } = await call(
      () =>
        tools.web.conversations.replies({
          channel,
          ts: thread,
          limit: LOOK_BACK,
          include_all_metadata: true,
        }),
      { repeatable: true },
      tools,
    );
    return messagesSchema
      .parse(messages ?? [])
      .find(
        ({ ts, user, files, metadata }) =>
          user === botUser &&
          ts !== thread &&
          !known.includes(ts) &&
          files.length === 0 &&
          metadata === undefined,
      )?.ts;
  } catch (error) {
    if (slackErrorOf(error) === undefined) throw error;
    tools.log.warn({ err: error }, 'Could not look whether a stream had begun');
    return undefined;
  }
}

/** The message's ts, if it is among the latest of its place. Undefined too when the place may not be read. */
export async function findPosted(
  where: { channel: string; thread: string | undefined },
  { event_payload: wanted }: webApi.MessageMetadata,
  tools: SlackTools & { log: Log },
): Promise<string | undefined> {
  const { channel, thread } = where;
  const { conversations } = tools.web;
  const options = { channel, limit: LOOK_BACK, include_all_metadata: true };
  try {
    const { messages } = await call(
      () =>
        thread === undefined
          ? conversations.history(options)
          : conversations.replies({ ...options, ts: thread }),
      { repeatable: true },
      tools,
    );
    const found = messagesSchema
      .parse(messages ?? [])
      .find(
        ({ metadata }) =>
          metadata?.event_type === EVENT_TYPE &&
          metadata.event_payload.key === wanted.key &&
          metadata.event_payload.part === wanted.part,
      );
    return found?.ts;
  } catch (error) {
    // A channel without the bot, or a missing scope: then it was not posted there either.
    if (slackErrorOf(error) === undefined) throw error;
    tools.log.warn({ err: error }, 'Could not look whether a message was posted');
    return undefined;
  }
}
