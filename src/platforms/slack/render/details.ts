/** Renders the title with its cover, fields and images. */
import type { types } from '@slack/bolt';
import type { LinkButton, MediaItem, Message } from '../../../core/message.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { titleTarget } from '../../shared/markdown/tree.ts';
import { LIMITS } from '../limits.ts';
import { isLinkable, linkElement } from './buttons.ts';
import { escapeMrkdwn, mrkdwn, plainText, splitMrkdwn } from './escape.ts';
import { contextBlock, grouped, type LinkOptions } from './lines.ts';
import { dateAndTime, titleBlocks } from './text.ts';

export interface DetailOptions {
  /** Uploaded images: stored name to Slack's file ID. */
  readonly pictures?: ReadonlyMap<string, string>;
  readonly bare?: boolean;
  /** Shows a cover in a card. Older workspaces may reject cards. */
  readonly hasCards?: boolean;
}

interface Picture {
  readonly item: MediaItem;
  readonly block: types.ImageElement;
}

/** The button that opens the page of the title. It is shown with the title, before all others. */
export function titleLink({ actions = [], titleUrl }: Message): LinkButton | undefined {
  if (titleUrl === undefined) return undefined;
  return actions
    .filter((button) => button.type === 'link')
    .find((button) => button.url === titleUrl && isLinkable(button));
}

/** The title with a large cover, if there is one and both fit in a card; otherwise the title alone. Then how to listen. */
export function headBlocks(message: Message, options: DetailOptions & LinkOptions): types.KnownBlock[] {
  const cover = coverOf(message, options);
  const { title = '', media = [] } = message;
  const target = titleTarget(message) ?? '';
  const link = titleLink(message);
  const buttons = link && [{ ...linkElement(link, message, 'card'), style: 'primary' as const }];
  const note = playerNote(message, options);
  if (cover === undefined)
    return [
      ...titleBlocks(title),
      ...(buttons ? [{ type: 'actions' as const, elements: buttons }] : []),
      ...note,
    ];
  const escaped = escapeMrkdwn(title.trim());
  const linked =
    /^https?:\/\/[^\s|<>]+$/i.test(target) && escaped !== ''
      ? `<${escapeMrkdwn(target)}|${escaped}>`
      : escaped;
  const sounds = media.filter(({ kind }) => kind === 'audio').flatMap(({ caption }) => caption?.trim() || []);
  const subtitle = escapeMrkdwn(sounds.join(', '));
  return [
    {
      type: 'card',
      hero_image: cover.block,
      ...cardText('title', linked.length <= LIMITS.cardTitle ? linked : escaped),
      ...(subtitle.length <= LIMITS.cardTitle && cardText('subtitle', subtitle)),
      ...(buttons && { actions: buttons }),
    },
    ...note,
  ];
}

/** Points to the players in the thread, if there are any. Other files are links. */
function playerNote(
  { media = [] }: Message,
  { bare, links }: DetailOptions & LinkOptions,
): types.ContextBlock[] {
  const played = media.filter(
    ({ name, source }) => source.type === 'stored' && links?.(source.file, name) === undefined,
  );
  const kinds = new Set(bare ? [] : played.map(({ kind }) => kind));
  if (kinds.has('audio')) return [contextBlock('Listen in the thread.')];
  return kinds.has('video') ? [contextBlock('Watch it in the thread.')] : [];
}

const cardText = (name: 'title' | 'subtitle', text: string): Partial<types.CardBlock> =>
  text === '' ? {} : { [name]: mrkdwn(text) };

/** The first cover, if the card has room for the title. */
function coverOf(message: Message, options: DetailOptions): Picture | undefined {
  const isShort = escapeMrkdwn(message.title?.trim() ?? '').length <= LIMITS.cardTitle;
  return options.hasCards && message.data === undefined && isShort
    ? picturesOf(message, options).find(({ item }) => item.cover)
    : undefined;
}

function picturesOf({ media = [] }: Message, { bare, pictures }: DetailOptions): Picture[] {
  if (bare) return [];
  return media.flatMap((item) => {
    const id = item.source.type === 'stored' ? pictures?.get(item.source.file.name) : undefined;
    if (id === undefined) return [];
    const alt = ellipsis(item.alt?.trim() || item.name.trim() || 'picture', LIMITS.altText);
    return [{ item, block: { type: 'image', slack_file: { id }, alt_text: alt } as const }];
  });
}

/** Fields in pairs, then the images that the head does not show. Without cards, the cover is next to the first fields. */
export function detailBlocks(message: Message, options: DetailOptions): types.KnownBlock[] {
  const shown = coverOf(message, options)?.item;
  const pictures = picturesOf(message, options).filter(({ item }) => item !== shown);
  const rows = fieldRows(message);
  const beside = rows.length > 0 && shown === undefined ? pictures.find(({ item }) => item.cover) : undefined;
  const fieldBlocks = rows.map(
    (fields, index): types.KnownBlock => ({
      type: 'section',
      fields,
      ...(index === 0 && beside && { accessory: beside.block }),
    }),
  );
  const imageBlocks = pictures
    .filter((picture) => picture !== beside)
    .map(
      ({ item: { caption }, block }): types.KnownBlock =>
        caption ? { ...block, title: plainText(caption, LIMITS.imageTitle) } : block,
    );
  return [...fieldBlocks, ...imageBlocks];
}

function fieldRows({ fields = [] }: Message): types.MrkdwnElement[][] {
  const texts = fields.flatMap(({ name, value, at }) => {
    const label = escapeMrkdwn(name).replaceAll('*', '∗');
    const heading = label.trim() === '' ? '' : `*${label}*\n`;
    if (heading.length > LIMITS.sectionField / 2)
      return splitMrkdwn(`${name}\n${value}`, LIMITS.sectionField);
    if (at !== undefined) return [`${heading}${dateAndTime(at, value)}`];
    const [first = '', ...rest] = splitMrkdwn(value, LIMITS.sectionField - heading.length);
    return [`${heading}${first}`, ...rest];
  });
  const elements = texts.filter((text) => text.trim() !== '').map(mrkdwn);
  return grouped(elements, LIMITS.sectionFields);
}
