/** Converts messages for the page. Never truncates: a browser shows text of any length. */

import type { Button, MediaItem, Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import type { BrowserButton } from '../../../core/web/browser-chat.ts';
import { arrangeButtons, spokenName } from '../../shared/buttons.ts';
import { stageText } from '../../shared/progress.ts';
import { wellFormed } from '../../shared/text.ts';
import { linkableUrl, readableText, webNodes } from './markdown.ts';
import type { WebContent, WebMedia } from './message.ts';

export interface RenderedMessage {
  readonly content: WebContent;
  /** Its text as Markdown. */
  readonly source: string;
}

/** `person` is mentioned if the message has `notify`. */
export async function renderForWeb(input: Message, person: string): Promise<RenderedMessage> {
  const message = wellFormed(input);
  const { title, text = '', fields, media, actions = [], progress, footer, notify } = message;
  const { rows, more } = arrangeButtons(actions);
  const shown = rows.flat();
  const content: WebContent = {
    title: title && line(title),
    mention: notify ? person : undefined,
    body: await webNodes(text),
    fields: fields?.map(({ name, value }) => ({ name: line(name), value: readableText(value) })),
    media: media?.map(mediaOf),
    buttons: shown.length > 0 ? shown.flatMap((button) => buttonOf(button, message)) : undefined,
    more: more.length > 0 ? more.flatMap((button) => buttonOf(button, message)) : undefined,
    progress: progress && { ...progress, stage: line(stageText(message)) },
    footer: footer && readableText(footer),
  };
  return { content, source: text || (title ?? '') };
}

function mediaOf({ kind, name, alt, caption, cover, source }: MediaItem): WebMedia {
  const location = source.type === 'stored' ? { file: source.file } : { url: linkableUrl(source.url) };
  return present({
    kind,
    name: line(name),
    alt: alt && line(alt),
    caption: caption && line(caption),
    cover,
    ...location,
  });
}

function buttonOf(button: Button, message: Message): BrowserButton[] {
  const { label, short, icon } = button;
  const spoken = line(spokenName(button, message));
  const common = present({ label: line(label), short: short && line(short), icon, spoken });
  if (button.type === 'action') {
    const { id, emphasis, group, hint } = button;
    return [present({ ...common, id, emphasis, group: group && line(group), hint: hint && line(hint) })];
  }
  const url = linkableUrl(button.url);
  return url === undefined ? [] : [{ ...common, url }];
}

function line(text: string): string {
  return readableText(text).replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space));
}
