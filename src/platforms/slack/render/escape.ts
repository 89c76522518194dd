/** Slack's own notation: escaped when sent, undone when received. */
import type { types } from '@slack/bolt';
import { ellipsis } from '../../../core/util/words.ts';
import { splitPlain } from '../../shared/text.ts';

/** Plain text as mrkdwn that shows it, without mentions. */
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

/** Text in Slack's notation. Slack does not turn plain words in it into links or mentions. */
export const mrkdwn = (text: string): types.MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

/** Text that Slack shows as it is, shortened to `most` characters. */
export function plainText(text: string, most: number): types.PlainTextElement {
  return { type: 'plain_text', text: ellipsis(text, most), emoji: false };
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
