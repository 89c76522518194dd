/** A message in the history: the fields sent to pages, plus internal ones. */

import type { MediaFile } from '../../../core/message.ts';
import type { BrowserMedia, BrowserMessage } from '../../../core/web/browser-chat.ts';

export interface WebMedia extends Omit<BrowserMedia, 'bytes'> {
  /** A stored file. Its link expires, so it is created when the message is sent to a page. */
  readonly file?: MediaFile;
}

export interface WebMessage extends Omit<BrowserMessage, 'media'> {
  readonly media?: readonly WebMedia[] | undefined;
  /** The ids of its files, which may no longer be in memory. */
  readonly uploads?: readonly string[] | undefined;
  /** The text as Markdown, used as conversation context. */
  readonly source: string;
}

/** The content of a bot message. */
export type WebContent = Omit<WebMessage, 'id' | 'channel' | 'at' | 'source'>;
