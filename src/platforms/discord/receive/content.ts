/** Reads a message as text and files, including its embeds, components, poll and forwarded messages. */
import type { FileReference } from '../../../core/options.ts';
import { embeddedImage, type PersonMessage } from '../../shared/question.ts';
import type { Guilds } from '../connection/guilds.ts';
import { ZERO_WIDTH_SPACE } from '../render/escape.ts';
import type { Component, MessageContent } from './incoming-message.ts';

export interface ContentTools {
  readonly guilds: Pick<Guilds, 'channelName' | 'roleName' | 'botRole'>;
  /** The bot's own user id. */
  readonly self: string;
}

type Snapshot = MessageContent['message_snapshots'][number]['message'];

/** Replaces mentions with names. Mentions of the bot are removed. */
export function contentOf(message: MessageContent, tools: ContentTools): PersonMessage {
  const forwarded = message.message_snapshots.map((snapshot) => snapshot.message);
  return {
    text: [
      textOf(message, tools),
      ...forwarded.map((snapshot) => `Forwarded message:\n\n${textOf(snapshot, tools)}`),
    ]
      .join('\n\n')
      .trim(),
    files: [message, ...forwarded].flatMap(filesOf),
  };
}

function textOf(message: Snapshot, tools: ContentTools): string {
  const { embeds, components, poll, sticker_items: stickers } = message;
  const parts = [
    message.content,
    ...embeds.map(embedText),
    ...allComponents(components).flatMap(({ content = '' }) => content),
    poll ? pollText(poll) : '',
    ...stickers.map(({ name }) => `(the sticker “${name}”)`),
  ];
  return withNames(parts.filter(Boolean).join('\n\n'), message.mentions, tools)
    .replaceAll(ZERO_WIDTH_SPACE, '')
    .trim();
}

function embedText({ author, title, url, description, fields, footer }: Snapshot['embeds'][number]): string {
  const heading = title === undefined || url === undefined ? title : `${title} (${url})`;
  const lines = [
    author?.name,
    heading,
    description,
    ...fields.map(({ name, value }) => `${name}: ${value}`),
    footer?.text,
  ];
  return lines.filter(Boolean).join('\n');
}

function pollText({ question, answers, results }: NonNullable<Snapshot['poll']>): string {
  const lines = answers.map(({ answer_id: id, poll_media: { text } }) => {
    const votes = results?.answer_counts.find((counted) => counted.id === id)?.count;
    return votes === undefined ? `- ${text}` : `- ${text} (votes: ${votes})`;
  });
  return [`Poll: ${question.text}`, ...lines].join('\n');
}

/** Returns components with all nested components. */
export function allComponents(components: readonly Component[]): Component[] {
  return components.flatMap((component) => [
    component,
    ...allComponents([
      ...(component.components ?? []),
      ...(component.accessory ? [component.accessory] : []),
    ]),
  ]);
}

/** Attachments, and the images of embeds and components, which Discord serves itself. */
function filesOf({ attachments, embeds, components }: Snapshot): FileReference[] {
  const media = allComponents(components).flatMap(({ items = [], media: thumbnail }) => [
    ...items.map((item) => item.media),
    ...(thumbnail ? [thumbnail] : []),
  ]);
  const shown = [...media, ...embeds.flatMap(({ image }) => image ?? [])].flatMap(({ url, proxy_url }) =>
    // An uploaded image is an attachment too.
    attachments.some((attachment) => attachment.url === url) ? [] : (proxy_url ?? []),
  );
  return [...attachments, ...shown.map((url) => ({ ...embeddedImage(url), attached: true as const }))];
}

/** https://docs.discord.com/developers/reference#message-formatting-formats */
const MENTION =
  /<(?:(@!?|@&|#)(\d{1,20})|a?(:\w{1,32}:)\d{1,20}|(\/[^:<>\n]{1,100}):\d{1,20}|t:(-?\d{1,13})(?::[a-zA-Z])?)>/g;

/** Replaces mentions, emoji, commands and timestamps with the text that readers see. */
function withNames(text: string, people: Snapshot['mentions'], { guilds, self }: ContentTools): string {
  return text.replace(
    MENTION,
    (whole, sign?: string, id = '', emoji?: string, command?: string, seconds?: string) => {
      if (emoji !== undefined) return emoji;
      if (command !== undefined) return command;
      if (seconds !== undefined) return readableTime(Number(seconds)) ?? whole;
      if (id === self) return '';
      switch (sign) {
        case '#':
          return `#${guilds.channelName(id) ?? 'unknown-channel'}`;
        case '@&':
          return guilds.botRole(id) ? '' : `@${guilds.roleName(id) ?? 'unknown-role'}`;
        default: {
          const person = people.find((one) => one.id === id);
          return `@${person?.member?.nick || person?.global_name || person?.username || 'unknown-user'}`;
        }
      }
    },
  );
}

function readableTime(seconds: number): string | undefined {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime())
    ? undefined
    : time
        .toISOString()
        .replace('T', ' ')
        .replace(/:\d\d\.000Z$/, ' UTC');
}
