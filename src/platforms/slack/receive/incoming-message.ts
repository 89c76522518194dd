/** A message that a person wrote: whom it is for, its words and its files. */
import { z } from 'zod';
import type { FileReference } from '../../../core/options.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { call, type SlackTools } from '../connection/client.ts';
import type { People } from '../connection/people.ts';
import type { Identity } from '../connection/workspaces.ts';
import { slackErrorOf } from '../errors.ts';
import { escapeMrkdwn, unescapeSlack } from '../render/escape.ts';
import { fileReference } from '../render/modal.ts';

/** More are not looked up. */
const MOST_NAMES = 50;

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

/** What a person wrote: no edits, no joins, no bots. */
export type PersonsTalk = Talk & { readonly user: string };

export function isFromPerson(talk: Talk): talk is PersonsTalk {
  const { user, bot_id, subtype } = talk;
  const isWritten = subtype === undefined || subtype === 'file_share' || subtype === 'thread_broadcast';
  return user !== undefined && bot_id === undefined && isWritten;
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
  people: People,
): Promise<string> {
  const own = new RegExp(`<@${botUser}(?:\\|[^<>]*)?>[,:]?`, 'g');
  return unescapeSlack(await withNames(text.replace(own, ' '), people))
    .replace(/ {2,}/g, ' ')
    .trim();
}

const UNNAMED = /<@([UW][A-Z0-9]+)>/g;

/** Slack leaves the names of people out of messages. */
async function withNames(text: string, people: People): Promise<string> {
  const ids = new Set(Array.from(text.matchAll(UNNAMED), ([, id = '']) => id));
  const names = new Map<string, string>();
  await Promise.all(
    [...ids].slice(0, MOST_NAMES).map(async (id) => {
      const { displayName } = await people.find(id, 'somebody');
      names.set(id, escapeMrkdwn(displayName.replaceAll('|', ' ')));
    }),
  );
  return text.replace(UNNAMED, (_, id: string) => `<@${id}|${names.get(id) ?? 'somebody'}>`);
}

/** On Slack Connect, an event may tell no more of a file than its id. */
const withheldSchema = z.object({ id: z.string(), file_access: z.literal('check_file_info') });

/** The files that can be read, and how many cannot, since Slack did not tell where they are. */
export async function filesOf(
  { files }: Pick<Talk, 'files'>,
  tools: SlackTools & { readonly log: Log },
): Promise<{ readonly files: FileReference[]; readonly unread: number }> {
  let unread = 0;
  const whole = await Promise.all(
    files.map(async (file) => {
      const { data } = withheldSchema.safeParse(file);
      if (data === undefined) return file;
      try {
        const info = () => tools.web.files.info({ file: data.id });
        return (await call(info, { repeatable: true }, tools)).file;
      } catch (error) {
        tools.log.warn({ err: error, code: slackErrorOf(error) }, 'Could not read a Slack Connect file');
        unread += 1;
        return undefined;
      }
    }),
  );
  return { files: whole.map(fileReference).filter((file) => file !== undefined), unread };
}
