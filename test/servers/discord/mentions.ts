import { z } from 'zod';
import { DISCORD } from './limits.ts';
import { requireValid } from './refusal.ts';

const ids = z.array(z.string().regex(/^\d{5,20}$/)).max(DISCORD.allowedMentionIds);
const allowedSchema = z.object({
  parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
  users: ids.optional(),
  roles: ids.optional(),
  replied_user: z.boolean().optional(),
});
type Allowed = z.infer<typeof allowedSchema>;

/** @throws Refusal 50035 if `parse` and a list contradict each other */
export function checkAllowedMentions(value: unknown): Allowed | undefined {
  if (value === undefined || value === null) return undefined;
  const parsed = allowedSchema.safeParse(value);
  requireValid(parsed.success, `allowed_mentions: ${parsed.error?.message}`);
  const { parse = [], users, roles } = parsed.data;
  requireValid(!(parse.includes('users') && users?.length), 'allowed_mentions: users in parse and in a list');
  requireValid(!(parse.includes('roles') && roles?.length), 'allowed_mentions: roles in parse and in a list');
  return parsed.data;
}

/** Code blocks and inline code, as Discord's clients parse them from the left. Escaped backticks open no code. */
const CODE = /\\`|```(?:[a-z0-9_+\-.#]+?\n)?\n*[^\n][\s\S]*?\n*```|(`+)[\s\S]*?[^`]\1(?!`)/gi;

/** Returns mentions outside code. Strict: a backslash before a mention does not disable it. */
export function liveMentions(text: string): string[] {
  const prose = text.replace(CODE, ' ');
  return [...prose.matchAll(/<(?:@[!&]?|#)\d+>|<\/[^:<>\n]+:\d+>|<id:\w+>|@everyone|@here/g)].map(
    (match) => match[0],
  );
}

/**
 * Returns who a text notifies under `allowed_mentions`: user ids, `role:<id>`, `everyone`, `here`.
 * Without `allowed_mentions`, Discord notifies everyone the text mentions. Strict: escaped mentions count too.
 */
export function pinged(text: string, allowed: Allowed | undefined, repliedTo: string | null): string[] {
  const parse = new Set(allowed === undefined ? ['users', 'roles', 'everyone'] : (allowed.parse ?? []));
  const named = new Set<string>();
  for (const [, kind, id] of text.matchAll(/<@([!&]?)(\d+)>/g)) {
    if (id === undefined) continue;
    if (kind === '&') {
      if (parse.has('roles') || allowed?.roles?.includes(id)) named.add(`role:${id}`);
    } else if (parse.has('users') || allowed?.users?.includes(id)) named.add(id);
  }
  if (parse.has('everyone')) {
    if (text.includes('@everyone')) named.add('everyone');
    if (text.includes('@here')) named.add('here');
  }
  if (repliedTo !== null && (allowed === undefined || allowed.replied_user === true)) named.add(repliedTo);
  return [...named];
}
