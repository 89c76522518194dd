/** Slack's own notation: what must be escaped on the way out, and undone on the way in. */

/** Plain text as mrkdwn that shows it and pings nobody. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// https://docs.slack.dev/messaging/formatting-message-text: <@U…|name>, <#C…|name>, <!here>, <https://…|label>
const TOKEN = /<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>|&(amp|lt|gt);/g;
const ENTITY = { amp: '&', lt: '<', gt: '>' } as const;

/**
 * The text that a person typed, from what Slack made of it. Total, and each escape is undone once. `keepMentions` leaves
 * people as `<@U…>` or `<@U…|name>`, in one word, for options that take one.
 */
export function unescapeSlack(text: string, { keepMentions = false } = {}): string {
  return text.replace(
    TOKEN,
    (whole, sigil: string, target: string, label: string | undefined, entity: string) => {
      if (entity === 'amp' || entity === 'lt' || entity === 'gt') return ENTITY[entity];
      const name = label === undefined ? undefined : unescapeEntities(label);
      switch (sigil) {
        case '@':
          if (keepMentions) return whole.replace(/\s+/g, '_');
          return `@${name ?? target}`;
        case '#':
          return `#${name ?? target}`;
        case '!':
          return `@${(name ?? target.replace(/^subteam\^/, '')).replace(/^@/, '')}`;
        default:
          return target === '' ? whole : linkText(unescapeEntities(target), name);
      }
    },
  );
}

function linkText(url: string, label: string | undefined): string {
  if (label === undefined || label === '' || url === label) return url.replace(/^mailto:/, '');
  if (url === `mailto:${label}`) return label;
  return url.endsWith(label) || url === `http://${label}/` ? url : `${label} (${url})`;
}

function unescapeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: 'amp' | 'lt' | 'gt') => ENTITY[name]);
}

/** Cuts plain text to a length without breaking a character, and says so with an ellipsis. */
export function ellipsis(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, wholeCharacters(text, most - 1))}…`;
}

/** The largest index up to `most` that does not lie inside a surrogate pair. */
export function wholeCharacters(text: string, most: number): number {
  const code = text.charCodeAt(most - 1);
  return most < text.length && code >= 0xd800 && code <= 0xdbff && most > 1 ? most - 1 : most;
}

/** Splits plain text into pieces of at most `most` characters, between words where there are any. Loses nothing but spaces. */
export function splitPlain(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most);
    const line = rest.lastIndexOf('\n', most);
    const cut = Math.max(line, space);
    const at = cut > most / 2 ? cut : wholeCharacters(rest, most);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).replace(/^[ \n]/, '');
  }
  if (rest.trim() !== '') pieces.push(rest);
  return pieces;
}

/** Like {@link splitPlain}, but each piece is escaped and at most `most` characters long as mrkdwn. */
export function splitMrkdwn(text: string, most: number): string[] {
  const pieces = splitPlain(text, most);
  return pieces.flatMap((piece) => {
    const escaped = escapeMrkdwn(piece);
    if (escaped.length <= most) return [escaped];
    // An escape makes at most five characters of one.
    return splitPlain(piece, Math.floor(most / 5)).map(escapeMrkdwn);
  });
}
