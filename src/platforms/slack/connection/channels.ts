/** Reads channels: their messages, and whether everybody may read them. */
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

/** Whether everybody in the workspace can read there. Throws the SDK's errors, as where `channels:read` is missing. */
export async function isPublicChannel({ channel }: Address, tools: SlackTools): Promise<boolean> {
  if (!/^[CG]/.test(channel)) return false;
  const answer = await call(() => tools.web.conversations.info({ channel }), { repeatable: true }, tools);
  const { is_private, is_im = false, is_mpim = false } = channelSchema.parse(answer.channel);
  return !is_private && !is_im && !is_mpim;
}

/** Slack: at most 999 messages a page; apps that are distributed outside its Marketplace get 15. */
const PAGE = 999;
const MOST_PAGES = 10;

interface Reading extends Omit<webApi.ConversationsHistoryArguments, 'limit' | 'cursor'> {
  readonly thread: string | undefined;
  /** Of a channel, as many of the newest messages. A thread is read to its newest message. */
  readonly newest?: number;
}

/**
 * Messages of a thread, oldest first, or of a channel, newest first. When Slack lets no more pages be read now, what was
 * read is the answer. Throws the SDK's errors.
 */
export async function readMessages(
  { thread, newest = PAGE, ...options }: Reading,
  tools: SlackTools,
): Promise<unknown[]> {
  const { conversations } = tools.web;
  const limit = thread === undefined ? newest : PAGE;
  const messages: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
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
