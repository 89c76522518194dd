/** A message as the page shows it and the history keeps it: data, and no markup. */
import type { KeptFile, MediaKind, Progress } from '../../../core/message.ts';
import type { WebNode } from './markdown.ts';

export interface WebMedia {
  readonly kind: MediaKind;
  readonly name: string;
  readonly alt?: string;
  readonly caption?: string;
  readonly cover?: boolean;
  /** Kept by us. Its link expires, so it is made when the message is sent to a page. */
  readonly file?: KeptFile;
  /** Not kept: where it is, for a link. */
  readonly url?: string;
}

export interface WebButton {
  readonly label: string;
  /** What it is called where it is heard alone. */
  readonly spoken: string;
  /** Of an action. */
  readonly id?: string;
  /** Of a button that opens a page. */
  readonly url?: string;
  readonly emoji?: string;
  readonly emphasis?: 'primary';
}

export interface WebContent {
  readonly title?: string;
  /** The person who is mentioned. */
  readonly mention?: string;
  readonly body: readonly WebNode[];
  readonly fields?: readonly { readonly name: string; readonly value: string }[];
  readonly media?: readonly WebMedia[];
  readonly buttons?: readonly WebButton[];
  /** Behind a menu. */
  readonly more?: readonly WebButton[];
  readonly progress?: Progress;
  readonly footer?: string;
}

export interface WebMessage extends WebContent {
  readonly id: string;
  readonly channel: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A person; absent for the bot. */
  readonly author?: string;
  /** The only person who sees it. */
  readonly to?: string;
  readonly replyTo?: string;
  /** The command that the author used, as it would be typed. */
  readonly line?: string;
  /** Names of what the author attached. */
  readonly attached?: readonly string[];
  /** The words as Markdown, for conversations: the page does not get them. */
  readonly source: string;
}
