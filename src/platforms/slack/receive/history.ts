/** Reads the messages before one, in its thread or direct messages. */
import { z } from 'zod';
import type { ConversationTurn, HistoryReference } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { present } from '../../../core/util/present.ts';
import { PlatformError } from '../../platform.ts';
import { readMessages } from '../connection/channels.ts';
import type { SlackTools } from '../connection/client.ts';
import type { Identity, Workspace } from '../connection/workspaces.ts';
import { postKeyOf } from '../deliver/find-posted.ts';
import { slackErrorOf } from '../errors.ts';
import { contentOfTalk } from './content.ts';
import { type Talk, talkSchema } from './incoming-message.ts';

const MAX_TURNS = 50;

const replySchema = talkSchema.omit({ channel: true, channel_type: true }).extend({
  metadata: z.unknown().optional(),
  /** The profile of an app. */
  bot_profile: z.object({ name: z.string() }).optional().catch(undefined),
});
type Reply = z.infer<typeof replySchema>;

/** Refers to the messages before one, in its thread or direct messages. */
const referenceSchema = z.object({ channel: z.string(), thread: z.string().optional(), before: z.string() });
type Reference = z.infer<typeof referenceSchema>;

/** Returns undefined if the message starts a conversation. */
export function historyBefore({
  channel,
  thread_ts: thread,
  ts: before,
  channel_type,
}: Talk): HistoryReference | undefined {
  if (thread === undefined && channel_type !== 'im') return undefined;
  return { channel, before, ...present({ thread }) } satisfies Reference;
}

type HistoryTools = SlackTools & Pick<Workspace, 'identity' | 'people'> & { readonly log: Log };

/** See Platform.readHistory. */
export async function readSlackHistory(
  history: HistoryReference | undefined,
  tools: HistoryTools,
): Promise<ConversationTurn[]> {
  const messages = await readReplies(history, tools);
  const identity = await tools.identity.read();
  return await Promise.all(messages.map((message) => turnOf(message, identity, tools)));
}

/** True if the bot posted in the conversation. */
export async function isBotIn(history: HistoryReference | undefined, tools: HistoryTools): Promise<boolean> {
  const identity = await tools.identity.read();
  const replies = await readReplies(history, tools).catch(() => []);
  return replies.some((message) => isOwn(message, identity));
}

/** https://docs.slack.dev/reference/methods/conversations.replies#errors */
const NOT_ALLOWED = new Set(['missing_scope', 'not_in_channel', 'channel_not_found', 'no_permission']);
const NO_HISTORY =
  "I couldn't read the earlier messages here. Invite me with /invite, or ask the bot's operator to reinstall the app.";

/** Earlier messages of the thread or direct messages, oldest first. Throws PlatformError if the bot may not read them. */
async function readReplies(history: HistoryReference | undefined, tools: HistoryTools): Promise<Reply[]> {
  const { data: reference } = referenceSchema.safeParse(history);
  if (!reference) return [];
  const { channel, thread, before } = reference;
  try {
    const options = {
      channel,
      thread,
      latest: before,
      newest: MAX_TURNS,
      include_all_metadata: true,
    } as const;
    const messages = z
      .array(replySchema)
      .parse(await readMessages(options, tools))
      // A tombstone replaces a deleted message, with Slack's own text.
      .filter((message) => message.ts < before && message.subtype !== 'tombstone')
      .toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
    // The first message of a thread gives its topic, so it is always included.
    const root = messages.slice(0, thread === undefined ? 0 : 1);
    return [...root, ...messages.slice(root.length).slice(-MAX_TURNS)];
  } catch (error) {
    tools.log.warn({ err: error }, 'Could not read a thread; answering from the last message only');
    if (NOT_ALLOWED.has(slackErrorOf(error) ?? ''))
      throw new PlatformError('refused', 'The bot may not read the history', {
        cause: error,
        advice: NO_HISTORY,
      });
    return [];
  }
}

const isOwn = ({ user, bot_id }: Reply, { botUser, botId }: Identity): boolean =>
  user === botUser || bot_id === botId;

async function turnOf(message: Reply, identity: Identity, tools: HistoryTools): Promise<ConversationTurn> {
  const { people } = tools;
  const { user } = message;
  const own = isOwn(message, identity);
  const { text, files } = await contentOfTalk(
    own ? { ...message, blocks: [], attachments: [] } : message,
    tools,
  );
  if (own) return { author: 'bot', text, files, ...present({ job: jobOf(message) }) };
  if (user === undefined)
    return { author: 'person', text, files, ...present({ name: message.bot_profile?.name }) };
  const { displayName: name } = await people.find(user);
  return { author: 'person', name, person: user, text, files };
}

/** Streams have no mark, and messages without buttons do not name a job there. */
function jobOf({ blocks, metadata }: Reply): string | undefined {
  const [, actionId = ''] = /"([a-z]+\.[\w-]+:[\w-]+:\d+)"/.exec(JSON.stringify(blocks)) ?? [];
  return postKeyOf(metadata) ?? parseActionId(actionId)?.job;
}
