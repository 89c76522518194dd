/** Keeps text from people and models from being read as Discord's markup, and mentions from being mentions. */

/** Nothing can be seen of it, and Discord does not read a mention across it. */
export const ZERO_WIDTH_SPACE = '\u200b';

/** Kills user, role, channel, command, guild, emoji and time references, `@everyone` and `@here`. */
export function deadenMentions(text: string): string {
  return text
    .replace(/<(?=[@#/:a-z])/gi, `<${ZERO_WIDTH_SPACE}`)
    .replace(/@(?=everyone|here)/gi, `@${ZERO_WIDTH_SPACE}`);
}

/**
 * Text as it is, anywhere in a line. A backslash may stand before any sign.
 * @param atLineStart also escapes what makes headings, lists, quotes and small print
 */
export function escapeText(text: string, atLineStart: boolean): string {
  const escaped = deadenMentions(text).replace(/[\\*_~|`[\]]/g, '\\$&');
  if (!atLineStart) return escaped;
  return escaped.replace(/^(\s*)([#>\-+])/, '$1\\$2').replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

/** Several lines of plain text, as Discord's Markdown that shows exactly them. */
export function escapePlain(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line, true))
    .join('\n');
}

/** Code between fences: a fence in it would end it. */
export function escapeFenced(code: string): string {
  return code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`);
}

/** An address that may stand in a link, or undefined when it is none that people should open. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href
    .replace(/[()<>\\|*`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/@(?=everyone|here)/gi, '%40');
}
