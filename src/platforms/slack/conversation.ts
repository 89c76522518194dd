/** Talk without a command: mentions, direct messages, and what was said before in their thread. */
import { z } from 'zod';
import type { AnyCommand, ConversationTurn, FileReference, Log, RawOptions } from '../../command.ts';
import { call, type SlackTools } from './client.ts';
import { unescapeSlack } from './escape.ts';
import type { Identity } from './identity.ts';
import { fileReference } from './modal.ts';
import type { Persons } from './persons.ts';

/** The command that goes on with a conversation. */
export const CONVERSATION_COMMAND = 'ask';
const MOST_TURNS = 50;

export const talkSchema = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  channel: z.string(),
  channel_type: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  subtype: z.string().optional(),
  text: z.string().catch(''),
  files: z.array(z.unknown()).catch([]),
});
export type Talk = z.infer<typeof talkSchema>;

/** Only what a person wrote: no edits, no joins, no bots. */
export function isFromPerson(talk: Talk): talk is Talk & { user: string } {
  const { user, bot_id, subtype } = talk;
  const said = subtype === undefined || subtype === 'file_share' || subtype === 'thread_broadcast';
  return user !== undefined && bot_id === undefined && said;
}

/** What was said, without the bot's own name in front of it. */
export function spoken(text: string, { botUser }: Pick<Identity, 'botUser'>): string {
  return unescapeSlack(text.replace(new RegExp(`<@${botUser}(?:\\|[^>]*)?>[,:]?`, 'g'), ' '))
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** What was said as options of the command that answers: the text, and the first file of a kind that it takes. */
export function talkOptions(command: AnyCommand, text: string, files: readonly FileReference[]): RawOptions {
  const entries = Object.entries(command.options);
  const textOption = entries.find(([, { type }]) => type === 'text')?.[0];
  const withFile = entries.flatMap(([name, option]): [string, FileReference][] => {
    if (option.type !== 'file') return [];
    const file = files.find(({ contentType }) =>
      option.accept.some((kind) => contentType?.startsWith(`${kind}/`)),
    );
    return file === undefined ? [] : [[name, file]];
  });
  return { ...(textOption === undefined ? {} : { [textOption]: text }), ...Object.fromEntries(withFile) };
}

export function filesOf({ files }: Pick<Talk, 'files'>): FileReference[] {
  return files.map(fileReference).filter((file) => file !== undefined);
}

const replySchema = talkSchema
  .omit({ channel: true, channel_type: true })
  .extend({ blocks: z.array(z.unknown()).catch([]) });
const repliesSchema = z.array(replySchema);

export interface ThreadReaderTools extends SlackTools {
  readonly persons: Persons;
  readonly log: Log;
}

/** What was said in the thread before this message, oldest first. Empty where the thread may not be read. */
export async function turnsBefore(
  talk: Talk,
  identity: Identity,
  tools: ThreadReaderTools,
): Promise<ConversationTurn[]> {
  const { channel, thread_ts: thread, ts } = talk;
  if (thread === undefined) return [];
  try {
    const { messages } = await call(
      () => tools.web.conversations.replies({ channel, ts: thread, latest: ts, limit: MOST_TURNS * 2 }),
      { repeatable: true },
      tools,
    );
    const before = repliesSchema
      .parse(messages ?? [])
      .filter((message) => message.ts < ts)
      .slice(-MOST_TURNS);
    return await Promise.all(before.map((message) => turnOf(message, identity, tools)));
  } catch (error) {
    tools.log.warn({ err: error }, 'A thread could not be read; the answer knows only the last message');
    return [];
  }
}

async function turnOf(
  message: z.infer<typeof replySchema>,
  identity: Identity,
  { persons }: ThreadReaderTools,
): Promise<ConversationTurn> {
  const own = message.user === identity.botUser || message.bot_id === identity.botId;
  const name =
    own || message.user === undefined ? undefined : (await persons.find(message.user)).person.displayName;
  return {
    author: own ? 'bot' : 'person',
    ...(name === undefined ? {} : { name }),
    text: (own && textOfBlocks(message.blocks)) || spoken(message.text, identity),
    files: filesOf(message),
  };
}

const markdownSchema = z.object({ type: z.literal('markdown'), text: z.string() });
const richTextSchema = z.object({ type: z.literal('rich_text'), elements: z.array(z.unknown()) });

/** What the bot said: beside its blocks stands only a summary. Slack gives markdown blocks back as rich text. */
function textOfBlocks(blocks: readonly unknown[]): string {
  const texts = blocks.map((block) => {
    const markdown = markdownSchema.safeParse(block);
    if (markdown.success) return unescapeSlack(markdown.data.text);
    const rich = richTextSchema.safeParse(block);
    return rich.success ? rich.data.elements.map(richText).join('\n') : '';
  });
  return texts.filter(Boolean).join('\n\n');
}

const richElementSchema = z.object({
  text: z.string().optional(),
  elements: z.array(z.unknown()).optional(),
});

function richText(element: unknown): string {
  const { data } = richElementSchema.safeParse(element);
  return data?.text ?? (data?.elements ?? []).map(richText).join('');
}

/** Remembers which events were taken, because Slack sends an event again when it doubts that it arrived. */
export function createEventMemory(most = 5000): (eventId: string) => boolean {
  const seen = new Set<string>();
  return (eventId) => {
    if (seen.has(eventId)) return false;
    seen.add(eventId);
    if (seen.size > most)
      for (const oldest of seen) {
        seen.delete(oldest);
        break;
      }
    return true;
  };
}
