/** Reads a channel's messages and visibility. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import { retryAfterMs } from '../errors.ts';
import { call, type SlackTools } from './client.ts';

const channelSchema = z.object({
  is_private: z.boolean(),
  is_im: z.boolean().optional(),
  is_mpim: z.boolean().optional(),
});

/** Whether everyone in the workspace can read the channel. Throws the SDK's errors, for example without `channels:read`. */
export async function isPublicChannel({ channel }: Address, tools: SlackTools): Promise<boolean> {
  if (!/^[CG]/.test(channel)) return false;
  const answer = await call(() => tools.web.conversations.info({ channel }), { repeatable: true }, tools);
  const { is_private, is_im = false, is_mpim = false } = channelSchema.parse(answer.channel);
  return !is_private && !is_im && !is_mpim;
}

/** Slack: 999 messages per page; 15 for apps distributed outside its Marketplace. */
const PAGE_SIZE = 999;
const MAX_PAGES = 10;

interface ReadOptions extends Omit<webApi.ConversationsHistoryArguments, 'limit' | 'cursor'> {
  readonly thread: string | undefined;
  /** The number of newest messages to read from a channel. A thread is read to its end. */
  readonly newest?: number;
}

/**
 * Reads a thread, oldest first, or a channel, newest first. Returns the pages read so far if Slack's rate limit is reached.
 * Throws the SDK's errors.
 */
export async function readMessages(
  { thread, newest = PAGE_SIZE, ...options }: ReadOptions,
  tools: SlackTools,
): Promise<unknown[]> {
  const { conversations } = tools.web;
  const limit = thread === undefined ? newest : PAGE_SIZE;
  const messages: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { ...options, limit, ...present({ cursor }) };
    const read = () =>
      thread === undefined ? conversations.history(query) : conversations.replies({ ...query, ts: thread });
    try {
      const answer = await call(read, { repeatable: true }, tools);
      messages.push(...(answer.messages ?? []));
      cursor = answer.response_metadata?.next_cursor || undefined;
    } catch (error) {
      if (messages.length === 0 || retryAfterMs(error) === undefined) throw error;
      return messages;
    }
    if (cursor === undefined || (thread === undefined && messages.length >= newest)) break;
  }
  return messages;
}
