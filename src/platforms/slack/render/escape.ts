/** Encodes and decodes Slack's mrkdwn. */
import type { types } from '@slack/bolt';
import { ellipsis } from '../../../core/util/words.ts';
import { splitPlain } from '../../shared/text.ts';

/** Escapes plain text for mrkdwn, so that it contains no mentions. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// https://docs.slack.dev/messaging/formatting-message-text: <@U…|name>, <#C…|name>, <!here>, <https://…|label>
const TOKEN = /<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>|&(amp|lt|gt);/g;
const ENTITY = { amp: '&', lt: '<', gt: '>' } as const;

/**
 * Decodes Slack's notation to the text that the person typed. Accepts any input, and decodes each escape once. `keepMentions`
 * leaves mentions as one word, `<@U…>` or `<@U…|name>`, for options that take a person.
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
          // https://docs.slack.dev/messaging/formatting-message-text#date-formatting
          if (target.startsWith('date^')) return name ?? whole;
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

/** A mrkdwn element. `verbatim` keeps Slack from turning plain words into links or mentions. */
export const mrkdwn = (text: string): types.MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

/** A plain text element, shortened to `limit` characters. */
export function plainText(text: string, limit: number): types.PlainTextElement {
  return { type: 'plain_text', text: ellipsis(text, limit), emoji: false };
}

/** Like {@link splitPlain}, but escapes each piece, with at most `limit` characters of mrkdwn. */
export function splitMrkdwn(text: string, limit: number): string[] {
  const pieces = splitPlain(text, limit);
  return pieces.flatMap((piece) => {
    const escaped = escapeMrkdwn(piece);
    if (escaped.length <= limit) return [escaped];
    // An escaped character takes at most five.
    return splitPlain(piece, Math.floor(limit / 5)).map(escapeMrkdwn);
  });
}
