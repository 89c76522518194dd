/** Fields and pictures. */
import type { types } from '@slack/bolt';
import type { MediaItem, Message } from '../../../message.ts';
import { ellipsis, escapeMrkdwn, splitMrkdwn } from '../escape.ts';
import { LIMITS } from '../limits.ts';
import { grouped } from './lines.ts';

export interface DetailOptions {
  /** Pictures that were uploaded: kept name to Slack's file id. */
  readonly pictures?: ReadonlyMap<string, string>;
  readonly bare?: boolean;
}

/** Fields two in a row, with the cover beside the first ones; then the other pictures. */
export function detailBlocks(message: Message, options: DetailOptions): types.KnownBlock[] {
  const pictures = options.bare
    ? []
    : (message.media ?? []).flatMap((item) => {
        const id = item.source.type === 'kept' ? options.pictures?.get(item.source.file.name) : undefined;
        return id === undefined ? [] : [{ item, id }];
      });
  const rows = fieldRows(message);
  const cover = rows.length > 0 ? pictures.find(({ item }) => item.cover) : undefined;
  const fieldBlocks = rows.map(
    (fields, index): types.KnownBlock => ({
      type: 'section',
      fields,
      ...(index === 0 && cover
        ? { accessory: { type: 'image', slack_file: { id: cover.id }, alt_text: altOf(cover.item) } }
        : {}),
    }),
  );
  const imageBlocks = pictures
    .filter((picture) => picture !== cover)
    .map(
      ({ item, id }): types.KnownBlock => ({
        type: 'image',
        slack_file: { id },
        alt_text: altOf(item),
        ...(item.caption
          ? { title: { type: 'plain_text', text: ellipsis(item.caption, LIMITS.imageTitle), emoji: false } }
          : {}),
      }),
    );
  return [...fieldBlocks, ...imageBlocks];
}

function fieldRows({ fields = [] }: Message): types.MrkdwnElement[][] {
  const texts = fields.flatMap(({ name, value }) => {
    const label = escapeMrkdwn(name).replaceAll('*', '∗');
    const head = label.trim() === '' ? '' : `*${label}*\n`;
    if (head.length > LIMITS.sectionField / 2) return splitMrkdwn(`${name}\n${value}`, LIMITS.sectionField);
    const [first = '', ...rest] = splitMrkdwn(value, LIMITS.sectionField - head.length);
    return [`${head}${first}`, ...rest];
  });
  const elements = texts
    .filter((text) => text.trim() !== '')
    .map((text) => ({ type: 'mrkdwn' as const, text }));
  return grouped(elements, LIMITS.sectionFields);
}

function altOf({ alt, name }: MediaItem): string {
  return ellipsis(alt?.trim() || name.trim() || 'picture', LIMITS.altText);
}
