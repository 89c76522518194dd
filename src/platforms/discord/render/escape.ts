/** Text as Discord shows it, and nothing more: no markup, no mention, no link to elsewhere. */

/** Nothing can be seen of it, and Discord does not read a mention across it. */
export const ZERO_WIDTH_SPACE = '\u200b';

/** Kills user, role, channel, command, guild, emoji and time references, `@everyone` and `@here`. */
export function deadenMentions(text: string): string {
  return text
    .replace(/<(?=[@#:]|[a-z]+:|\/[^:<>\n]+:)/gi, `<${ZERO_WIDTH_SPACE}`)
    .replace(/@(?=everyone|here)/gi, `@${ZERO_WIDTH_SPACE}`);
}

/** Text within a line. Any sign may have a backslash before it. */
export const escapeSigns = (text: string): string => text.replace(/[\\*_~|`[\]]/g, '\\$&');

/** Several lines of plain text, as Discord's Markdown that shows exactly them. */
export function escapePlain(text: string): string {
  return escapeSigns(deadenMentions(text))
    .replace(/^([^\S\r\n\u2028\u2029]*)([#>\-+])/gm, '$1\\$2')
    .replace(/^([^\S\r\n\u2028\u2029]*\d+)([.)])/gm, '$1\\$2');
}

/** Code between fences: a fence in it would end it. */
export function escapeFenced(code: string): string {
  return code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`);
}

/** An address that a link may have, or undefined when it is none that people should open. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href
    .replace(/[()<>\\|*`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/@(?=everyone|here)/gi, '%40');
}
