/** Talk without a command: mentions, direct messages, and what was said before in their thread. */
import { z } from 'zod';
import type { AnyCommand, ConversationTurn, FileReference, Log, RawOptions } from '../../command.ts';
import { call, type SlackTools } from './client.ts';
import { unescapeSlack } from './escape.ts';
import type { Identity } from './identity.ts';
import { fileReference } from './modal.ts';
import type { Persons } from './persons.ts';
import { spokenByBot } from './spoken.ts';

/** The command that goes on with a conversation. */
export const CONVERSATION_COMMAND = 'ask';
const MOST_TURNS = 50;

export const talkSchema = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  /** Who began the thread. */
  parent_user_id: z.string().optional(),
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

export function mentions({ text }: Pick<Talk, 'text'>, { botUser }: Pick<Identity, 'botUser'>): boolean {
  return new RegExp(`<@${botUser}(?:\\|[^>]*)?>`).test(text);
}

/** Begins with somebody's name, and so is meant for them. */
export function isToSomebodyElse({ text }: Pick<Talk, 'text'>): boolean {
  return /^\s*<[@!]/.test(text);
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

/**
 * What was said before this message, oldest first: in its thread, or in a direct message without one. Empty elsewhere,
 * and where it may not be read.
 */
export async function turnsBefore(
  talk: Talk,
  identity: Identity,
  tools: ThreadReaderTools,
): Promise<ConversationTurn[]> {
  const { channel, thread_ts: thread, ts } = talk;
  if (thread === undefined && talk.channel_type !== 'im') return [];
  try {
    const { messages = [] } = await call(
      () =>
        thread === undefined
          ? tools.web.conversations.history({ channel, latest: ts, limit: MOST_TURNS })
          : tools.web.conversations.replies({ channel, ts: thread, latest: ts, limit: MOST_TURNS * 2 }),
      { repeatable: true },
      tools,
    );
    const before = repliesSchema
      .parse(messages)
      .filter((message) => message.ts < ts)
      .toSorted((one, other) => (one.ts < other.ts ? -1 : 1))
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
    ...(own || message.user === undefined ? {} : { person: message.user }),
    text: (own && spokenByBot(message.blocks)) || spoken(message.text, identity),
    files: filesOf(message),
  };
}
