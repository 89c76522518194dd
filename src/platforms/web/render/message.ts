/** A message as the history holds it: what pages get of it, with what they do not get. */

import type { KeptFile } from '../../../core/message.ts';
import type { BrowserMedia, BrowserMessage } from '../../../core/web/browser-chat.ts';

export interface WebMedia extends Omit<BrowserMedia, 'bytes'> {
  /** Kept by us. Its link expires, so it is made when the message is sent to a page. */
  readonly file?: KeptFile;
}

export interface WebMessage extends Omit<BrowserMessage, 'media'> {
  readonly media?: readonly WebMedia[] | undefined;
  /** The words as Markdown, for conversations. */
  readonly source: string;
}

/** What the bot says. */
export type WebContent = Omit<WebMessage, 'id' | 'channel' | 'at' | 'source'>;
