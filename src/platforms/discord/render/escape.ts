/** Escapes text for Discord, so that it cannot contain markup, mentions or unsafe links. */

/** Invisible, and prevents Discord from reading a mention. */
export const ZERO_WIDTH_SPACE = '\u200b';

/** Disables references to users, roles, channels, commands, guilds, emoji and times, `@everyone` and `@here`. */
export function disableMentions(text: string): string {
  return text
    .replace(/<(?=[@#:]|[a-z]+:|\/[^:<>\n]+:)/gi, `<${ZERO_WIDTH_SPACE}`)
    .replace(/@(?=everyone|here)/gi, `@${ZERO_WIDTH_SPACE}`);
}

/** Escapes text within a line. */
export const escapeSigns = (text: string): string => text.replace(/[\\*_~|`[\]]/g, '\\$&');

/** Escapes plain text of several lines, so that Discord shows it unchanged. */
export function escapePlain(text: string): string {
  return escapeSigns(disableMentions(text))
    .replace(/^([^\S\r\n\u2028\u2029]*)([#>\-+])/gm, '$1\\$2')
    .replace(/^([^\S\r\n\u2028\u2029]*\d+)([.)])/gm, '$1\\$2');
}

/** Escapes code in a fenced block, so that a fence in the code does not end the block. */
export function escapeFenced(code: string): string {
  return code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`);
}

/** Returns the escaped address of a link, or undefined if people should not open it. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href
    .replace(/[()<>\\|*`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/@(?=everyone|here)/gi, '%40');
}
