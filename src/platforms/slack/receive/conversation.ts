/** Talk without a command: mentions, direct messages, and what was said before in their thread. */
import { z } from 'zod';
import type { ConversationTurn, HistoryReference } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import type { FileReference } from '../../../core/options.ts';
import { present } from '../../../core/present.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { call, readMessages, type SlackTools } from '../connection/client.ts';
import type { Persons } from '../connection/people.ts';
import type { Identity, Workspace } from '../connection/workspaces.ts';
import { postKeyOf } from '../deliver/find-posted.ts';
import { slackErrorOf } from '../errors.ts';
import { escapeMrkdwn, unescapeSlack } from '../render/escape.ts';
import { fileReference } from '../render/modal.ts';

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

/** A person wrote it: no edits, no joins, no bots. */
export function isFromPerson(talk: Talk): talk is Talk & { user: string } {
  const { user, bot_id, subtype } = talk;
  const said = subtype === undefined || subtype === 'file_share' || subtype === 'thread_broadcast';
  return user !== undefined && bot_id === undefined && said;
}

export function mentions({ text }: Pick<Talk, 'text'>, { botUser }: Pick<Identity, 'botUser'>): boolean {
  return new RegExp(`<@${botUser}(?:\\|[^<>]*)?>`).test(text);
}

/** Begins with a person's name, and so is for that person. */
export function isToSomebodyElse({ text }: Pick<Talk, 'text'>): boolean {
  return /^\s*<[@!]/.test(text);
}

/** Names people, a group or everybody. */
export function isAboutPeople({ text }: Pick<Talk, 'text'>): boolean {
  return /<(?:@|!(?:here|channel|everyone|subteam))/.test(text);
}

/** The text as it was typed, without the bot's own name, and with the names of the people in it. */
export async function spoken(
  text: string,
  { botUser }: Pick<Identity, 'botUser'>,
  persons: Persons,
): Promise<string> {
  const own = new RegExp(`<@${botUser}(?:\\|[^<>]*)?>[,:]?`, 'g');
  return unescapeSlack(await withNames(text.replace(own, ' '), persons))
    .replace(/ {2,}/g, ' ')
    .trim();
}

const UNNAMED = /<@([UW][A-Z0-9]+)>/g;

/** Slack leaves the names of people out of messages. */
async function withNames(text: string, persons: Persons): Promise<string> {
  const ids = new Set(Array.from(text.matchAll(UNNAMED), ([, id = '']) => id));
  const names = new Map<string, string>();
  await Promise.all(
    [...ids].slice(0, MOST_TURNS).map(async (id) => {
      const { displayName } = await persons.find(id, 'somebody');
      names.set(id, escapeMrkdwn(displayName.replaceAll('|', ' ')));
    }),
  );
  return text.replace(UNNAMED, (_, id: string) => `<@${id}|${names.get(id) ?? 'somebody'}>`);
}

/** On Slack Connect, an event may tell no more of a file than its id. */
const toldLater = z.object({ id: z.string(), file_access: z.literal('check_file_info') });

/** The files that can be read, and how many cannot, since Slack did not tell where they are. */
export async function filesOf(
  { files }: Pick<Talk, 'files'>,
  tools: SlackTools & { readonly log: Log },
): Promise<{ readonly files: FileReference[]; readonly unread: number }> {
  let unread = 0;
  const whole = await Promise.all(
    files.map(async (file) => {
      const { data } = toldLater.safeParse(file);
      if (data === undefined) return file;
      try {
        const info = () => tools.web.files.info({ file: data.id });
        return (await call(info, { repeatable: true }, tools)).file;
      } catch (error) {
        tools.log.warn(
          { err: error, code: slackErrorOf(error) },
          'A file of Slack Connect could not be read',
        );
        unread += 1;
        return undefined;
      }
    }),
  );
  return { files: whole.map(fileReference).filter((file) => file !== undefined), unread };
}

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
  return { channel, before, ...(thread === undefined ? {} : { thread }) } satisfies Reference;
}

type ReadingTools = SlackTools & Pick<Workspace, 'identity' | 'persons'> & { readonly log: Log };

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
    tools.log.warn({ err: error }, 'A thread could not be read; the answer knows only the last message');
    return [];
  }
}

const isOwn = ({ user, bot_id }: Reply, { botUser, botId }: Identity): boolean =>
  user === botUser || bot_id === botId;

async function turnOf(message: Reply, identity: Identity, tools: ReadingTools): Promise<ConversationTurn> {
  const { persons } = tools;
  const { user } = message;
  const { files } = await filesOf(message, tools);
  const text = await spoken(message.text, identity, persons);
  if (isOwn(message, identity)) return { author: 'bot', text, files, ...present({ job: jobOf(message) }) };
  if (user === undefined) return { author: 'person', text, files };
  const { displayName: name } = await persons.find(user);
  return { author: 'person', name, person: user, text, files };
}

/** A stream has no mark, and a message without buttons names no job in them. */
function jobOf({ blocks, metadata }: Reply): string | undefined {
  const [, pressed = ''] = /"([a-z]+\.[\w-]+:[\w-]+:\d+)"/.exec(JSON.stringify(blocks)) ?? [];
  return postKeyOf(metadata) ?? parseActionId(pressed)?.job;
}
