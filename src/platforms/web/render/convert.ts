/** Converts messages for the page. Never truncates: a browser shows text of any length. */

import type { ActionButton, Button, MediaItem, Message, Variant } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import type { BrowserButton, BrowserVariant } from '../../../core/web/browser-chat.ts';
import { accessibleNameOf, arrangeButtons } from '../../shared/buttons.ts';
import { titleTarget } from '../../shared/markdown/tree.ts';
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
  const { title, actions = [], variants = [], data, progress, footer, notify } = message;
  const target = titleTarget(message);
  const { text = '' } = variants.length > 0 ? {} : message;
  const fields = variants.length > 0 || data ? undefined : message.fields;
  const media = data ? undefined : message.media;
  const { rows, more } = arrangeButtons(
    actions.filter(
      (button) => button.type === 'link' || !variants.some(({ action }) => action.id === button.id),
    ),
  );
  const shown = rows.flat();
  const content: WebContent = {
    title: title && line(title),
    titleUrl: target === undefined ? undefined : linkableUrl(target),
    mention: notify ? person : undefined,
    body: await webNodes(text),
    fields: fields?.map(({ name, value }) => ({ name: line(name), value: readableText(value) })),
    media: media?.map(mediaOf),
    data,
    variants: variants.length > 0 ? await Promise.all(variants.map(variantOf)) : undefined,
    buttons: shown.length > 0 ? shown.flatMap((button) => buttonOf(button, message)) : undefined,
    more: more.length > 0 ? more.flatMap((button) => buttonOf(button, message)) : undefined,
    progress: progress && { ...progress, stage: line(progress.stage) },
    footer: footer && readableText(footer),
  };
  return { content, source: message.text || (title ?? '') };
}

async function variantOf({ title, text, action }: Variant): Promise<BrowserVariant> {
  return { title: line(title), body: await webNodes(text), button: actionOf(action, {}) };
}

function mediaOf({ kind, name, alt, caption, cover, part, source }: MediaItem): WebMedia {
  const location = source.type === 'stored' ? { file: source.file } : { url: linkableUrl(source.url) };
  return present({
    kind,
    name: line(name),
    alt: alt && line(alt),
    caption: caption && line(caption),
    cover,
    part,
    ...location,
  });
}

function actionOf(button: ActionButton, message: Pick<Message, 'title'>): BrowserButton {
  const { id, emphasis, group, hint } = button;
  return present({
    ...labelsOf(button, message),
    id,
    emphasis,
    group: group && line(group),
    hint: hint && line(hint),
  });
}

function buttonOf(button: Button, message: Message): BrowserButton[] {
  if (button.type === 'action') return [actionOf(button, message)];
  const url = linkableUrl(button.url);
  return url === undefined ? [] : [{ ...labelsOf(button, message), url }];
}

function labelsOf(button: Button, message: Pick<Message, 'title'>) {
  const { label, short, icon } = button;
  const accessibleName = line(accessibleNameOf(button, message));
  return present({ label: line(label), short: short && line(short), icon, accessibleName });
}

function line(text: string): string {
  return readableText(text).replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space));
}
