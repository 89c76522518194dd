/** Reads a person's message: its text, and whom it addresses. */
import { z } from 'zod';
import type { People } from '../connection/people.ts';
import type { Identity } from '../connection/workspaces.ts';
import { escapeMrkdwn, unescapeSlack } from '../render/escape.ts';

/** The most names to look up in a message. */
const MAX_NAMES = 50;

const text = z.string().optional().catch(undefined);

/** An app's attachment, or a message that a person shared. */
const attachmentSchema = z.object({
  fallback: text,
  pretext: text,
  author_name: text,
  title: text,
  title_link: text,
  text,
  fields: z.array(z.object({ title: text, value: text })).catch([]),
  footer: text,
  image_url: text,
  /** The link of a preview. */
  from_url: text,
  /** A message that was forwarded, or linked and shown by Slack. */
  is_share: z.boolean().catch(false),
  files: z.array(z.unknown()).catch([]),
  blocks: z.array(z.unknown()).catch([]),
});

export const talkSchema = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  /** The author of the thread's first message. */
  parent_user_id: z.string().optional(),
  channel: z.string(),
  channel_type: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  subtype: z.string().optional(),
  text: z.string().catch(''),
  files: z.array(z.unknown()).catch([]),
  blocks: z.array(z.unknown()).catch([]),
  attachments: z
    .array(z.unknown())
    .catch([])
    .transform((entries) => entries.flatMap((entry) => attachmentSchema.safeParse(entry).data ?? [])),
});
export type Talk = z.infer<typeof talkSchema>;

/** A message written by a person: not an edit, a join or a bot's message. */
export type PersonTalk = Talk & { readonly user: string };

export function isFromPerson(talk: Talk): talk is PersonTalk {
  const { user, bot_id, subtype } = talk;
  const isWritten = subtype === undefined || subtype === 'file_share' || subtype === 'thread_broadcast';
  return user !== undefined && bot_id === undefined && isWritten;
}

export function mentions({ text }: Pick<Talk, 'text'>, { botUser }: Pick<Identity, 'botUser'>): boolean {
  return new RegExp(`<@${botUser}(?:\\|[^<>]*)?>`).test(text);
}

/** True if the message starts with a mention of someone else. */
export function addressesSomeoneElse({ text }: Pick<Talk, 'text'>): boolean {
  return /^\s*<[@!]/.test(text);
}

/** True if the message mentions people, a group or everyone. */
export function mentionsPeople({ text }: Pick<Talk, 'text'>): boolean {
  return /<(?:@|!(?:here|channel|everyone|subteam))/.test(text);
}

/** The text as typed, without the bot's mention and with people's names. */
export async function textWithNames(
  text: string,
  { botUser }: Pick<Identity, 'botUser'>,
  people: People,
): Promise<string> {
  const own = new RegExp(` ?<@${botUser}(?:\\|[^<>]*)?>[,:]?`, 'g');
  return unescapeSlack(await withNames(text.replace(own, ''), people)).trim();
}

const UNNAMED = /<@([UW][A-Z0-9]+)>/g;

/** Adds people's names, which Slack leaves out of messages. */
async function withNames(text: string, people: People): Promise<string> {
  const ids = new Set(Array.from(text.matchAll(UNNAMED), ([, id = '']) => id));
  const names = new Map<string, string>();
  await Promise.all(
    [...ids].slice(0, MAX_NAMES).map(async (id) => {
      const { displayName } = await people.find(id, 'somebody');
      names.set(id, escapeMrkdwn(displayName.replaceAll('|', ' ')));
    }),
  );
  return text.replace(UNNAMED, (_, id: string) => `<@${id}|${names.get(id) ?? 'somebody'}>`);
}
