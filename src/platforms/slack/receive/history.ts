/** What was said before a message, in its thread or direct messages. */
import { z } from 'zod';
import type { ConversationTurn, HistoryReference } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { present } from '../../../core/util/present.ts';
import { readMessages } from '../connection/channels.ts';
import type { SlackTools } from '../connection/client.ts';
import type { Identity, Workspace } from '../connection/workspaces.ts';
import { postKeyOf } from '../deliver/find-posted.ts';
import { filesOf, spoken, type Talk, talkSchema } from './incoming-message.ts';

const MOST_TURNS = 50;

const replySchema = talkSchema.omit({ channel: true, channel_type: true }).extend({
  blocks: z.array(z.unknown()).catch([]),
  metadata: z.unknown().optional(),
});
type Reply = z.infer<typeof replySchema>;

/** The messages before one, of its thread or direct messages. */
const referenceSchema = z.object({ channel: z.string(), thread: z.string().optional(), before: z.string() });
type Reference = z.infer<typeof referenceSchema>;

/** Undefined where nothing was said before. */
export function historyBefore({
  channel,
  thread_ts: thread,
  ts: before,
  channel_type,
}: Talk): HistoryReference | undefined {
  if (thread === undefined && channel_type !== 'im') return undefined;
  return { channel, before, ...present({ thread }) } satisfies Reference;
}

type ReadingTools = SlackTools & Pick<Workspace, 'identity' | 'people'> & { readonly log: Log };

/** See Platform.readHistory. */
export async function readSlackHistory(
  history: HistoryReference | undefined,
  tools: ReadingTools,
): Promise<ConversationTurn[]> {
  const messages = await readReplies(history, tools);
  const identity = await tools.identity.read();
  return await Promise.all(messages.map((message) => turnOf(message, identity, tools)));
}

/** Whether the bot said something there. */
export async function isBotIn(history: HistoryReference | undefined, tools: ReadingTools): Promise<boolean> {
  const identity = await tools.identity.read();
  return (await readReplies(history, tools)).some((message) => isOwn(message, identity));
}

/** Earlier messages of the thread or direct message, oldest first. Empty where they may not be read. */
async function readReplies(history: HistoryReference | undefined, tools: ReadingTools): Promise<Reply[]> {
  const { data: reference } = referenceSchema.safeParse(history);
  if (!reference) return [];
  const { channel, thread, before } = reference;
  try {
    const options = {
      channel,
      thread,
      latest: before,
      newest: MOST_TURNS,
      include_all_metadata: true,
    } as const;
    const messages = z
      .array(replySchema)
      .parse(await readMessages(options, tools))
      // In place of a deleted message Slack writes a sentence of its own, which no person said.
      .filter((message) => message.ts < before && message.subtype !== 'tombstone')
      .toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
    // The message that began the thread says what it is about.
    const root = messages.slice(0, thread === undefined ? 0 : 1);
    return [...root, ...messages.slice(root.length).slice(-MOST_TURNS)];
  } catch (error) {
    tools.log.warn({ err: error }, 'Could not read a thread; answering from the last message only');
    return [];
  }
}

const isOwn = ({ user, bot_id }: Reply, { botUser, botId }: Identity): boolean =>
  user === botUser || bot_id === botId;

async function turnOf(message: Reply, identity: Identity, tools: ReadingTools): Promise<ConversationTurn> {
  const { people } = tools;
  const { user } = message;
  const { files } = await filesOf(message, tools);
  const text = await spoken(message.text, identity, people);
  if (isOwn(message, identity)) return { author: 'bot', text, files, ...present({ job: jobOf(message) }) };
  if (user === undefined) return { author: 'person', text, files };
  const { displayName: name } = await people.find(user);
  return { author: 'person', name, person: user, text, files };
}

/** A stream has no mark, and a message without buttons names no job in them. */
function jobOf({ blocks, metadata }: Reply): string | undefined {
  const [, pressed = ''] = /"([a-z]+\.[\w-]+:[\w-]+:\d+)"/.exec(JSON.stringify(blocks)) ?? [];
  return postKeyOf(metadata) ?? parseActionId(pressed)?.job;
}
