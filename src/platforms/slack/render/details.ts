/** Renders fields and images. */
import type { types } from '@slack/bolt';
import type { Message } from '../../../core/message.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { LIMITS } from '../limits.ts';
import { escapeMrkdwn, mrkdwn, plainText, splitMrkdwn } from './escape.ts';
import { grouped } from './lines.ts';

export interface DetailOptions {
  /** Uploaded images: stored name to Slack's file ID. */
  readonly pictures?: ReadonlyMap<string, string>;
  readonly bare?: boolean;
}

/** Fields in pairs, with the cover next to the first ones, then the other images. */
export function detailBlocks(message: Message, options: DetailOptions): types.KnownBlock[] {
  const pictures = options.bare
    ? []
    : (message.media ?? []).flatMap((item) => {
        const id = item.source.type === 'stored' ? options.pictures?.get(item.source.file.name) : undefined;
        if (id === undefined) return [];
        const alt = ellipsis(item.alt?.trim() || item.name.trim() || 'picture', LIMITS.altText);
        return [{ item, block: { type: 'image', slack_file: { id }, alt_text: alt } as const }];
      });
  const rows = fieldRows(message);
  const cover = rows.length > 0 ? pictures.find(({ item }) => item.cover) : undefined;
  const fieldBlocks = rows.map(
    (fields, index): types.KnownBlock => ({
      type: 'section',
      fields,
      ...(index === 0 && cover && { accessory: cover.block }),
    }),
  );
  const imageBlocks = pictures
    .filter((picture) => picture !== cover)
    .map(
      ({ item: { caption }, block }): types.KnownBlock =>
        caption ? { ...block, title: plainText(caption, LIMITS.imageTitle) } : block,
    );
  return [...fieldBlocks, ...imageBlocks];
}

function fieldRows({ fields = [] }: Message): types.MrkdwnElement[][] {
  const texts = fields.flatMap(({ name, value }) => {
    const label = escapeMrkdwn(name).replaceAll('*', '∗');
    const heading = label.trim() === '' ? '' : `*${label}*\n`;
    if (heading.length > LIMITS.sectionField / 2)
      return splitMrkdwn(`${name}\n${value}`, LIMITS.sectionField);
    const [first = '', ...rest] = splitMrkdwn(value, LIMITS.sectionField - heading.length);
    return [`${heading}${first}`, ...rest];
  });
  const elements = texts.filter((text) => text.trim() !== '').map(mrkdwn);
  return grouped(elements, LIMITS.sectionFields);
}
