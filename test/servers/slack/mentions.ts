import { asFields, asList, isFields } from './json.ts';

/** The visible parts of a message: the text, the blocks, or both. */
export interface Content {
  text?: string;
  blocks?: readonly unknown[];
}

// https://docs.slack.dev/messaging/formatting-message-text: users, groups and the three special mentions.
// Slack parses these tokens in mrkdwn and in markdown blocks, even between backticks.
const TOKEN = /<(?:(@[UW][A-Z0-9]+)|!(channel|here|everyone)|!(subteam\^[A-Z0-9]+))(?:\|[^<>]*)?>/g;

/**
 * Returns who a message would ping: user ids (`U…`), `channel`, `here`, `everyone`, `subteam^S…`, in order, once each.
 * Reads the top-level text, every mrkdwn text object and markdown block, and rich text mention elements;
 * plain_text never pings.
 */
export function pings(content: Content): string[] {
  const pinged = new Set<string>();
  const read = (text: string) => {
    for (const [, user, special, group] of text.matchAll(TOKEN)) {
      const who = user?.slice(1) ?? special ?? group;
      if (who !== undefined) pinged.add(who);
    }
  };
  if (content.text !== undefined) read(content.text);
  for (const text of liveTexts(content.blocks ?? [], pinged)) read(text);
  return [...pinged];
}

function liveTexts(value: unknown, mentioned: Set<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => liveTexts(item, mentioned));
  if (!isFields(value)) return [];
  if (value.type === 'plain_text') return [];
  if ((value.type === 'mrkdwn' || value.type === 'markdown') && typeof value.text === 'string') {
    return [value.text];
  }
  if (value.type === 'user' && typeof value.user_id === 'string') mentioned.add(value.user_id);
  if (value.type === 'broadcast' && typeof value.range === 'string') mentioned.add(value.range);
  if (value.type === 'usergroup' && typeof value.usergroup_id === 'string') {
    mentioned.add(`subteam^${value.usergroup_id}`);
  }
  return Object.values(value).flatMap((item) => liveTexts(item, mentioned));
}

/** Returns links that Slack would show: `<https://…|label>` in mrkdwn, `[label](https://…)` in markdown blocks. */
export function links(content: Content): { url: string; label: string }[] {
  const texts = [content.text ?? '', ...liveTexts(content.blocks ?? [], new Set())];
  return texts.flatMap((text) => [
    ...Array.from(text.matchAll(/<(https?:[^|<>\s]+)(?:\|([^<>]*))?>/g), ([, url = '', label]) => ({
      url: unescapeText(url),
      label: unescapeText(label ?? url),
    })),
    ...Array.from(text.matchAll(/\[([^\]]*)\]\((https?:[^)\s]+)\)/g), ([, label = '', url = '']) => ({
      url,
      label: unescapeText(label),
    })),
  ]);
}

/** Returns all visible texts of a message in order, with entities decoded and markup unchanged. */
export function readableText(content: Content): string {
  const collect = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(collect);
    if (typeof value === 'string') return [value];
    if (!isFields(value)) return [];
    if (typeof value.text === 'string') {
      const plain = value.type === 'plain_text';
      return [plain ? value.text : unescapeText(value.text)];
    }
    return [
      'text',
      'title',
      'subtitle',
      'fields',
      'elements',
      'accessory',
      'label',
      'element',
      'caption',
      'rows',
    ].flatMap((key) => collect(value[key]));
  };
  const fromBlocks = asList(content.blocks).flatMap((block) => collect(asFields(block)));
  return fromBlocks.length > 0 ? fromBlocks.join('\n') : unescapeText(content.text ?? '');
}

/** Decodes the only three entities that Slack supports. */
function unescapeText(text: string): string {
  return text.replace(/&(lt|gt|amp);/g, (_, name: string) =>
    name === 'lt' ? '<' : name === 'gt' ? '>' : '&',
  );
}

/** Escapes typed text as Slack does before it sends it to an app. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
