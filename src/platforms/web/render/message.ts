/** A message as the page shows it and the history keeps it: data, and no markup. */
import type { KeptFile, MediaKind, Progress } from '../../../core/message.ts';
import type { WebNode } from './markdown.ts';

export interface WebMedia {
  readonly kind: MediaKind;
  readonly name: string;
  readonly alt?: string | undefined;
  readonly caption?: string | undefined;
  readonly cover?: boolean | undefined;
  /** Kept by us. Its link expires, so it is made when the message is sent to a page. */
  readonly file?: KeptFile | undefined;
  /** Not kept: where it is, for a link. */
  readonly url?: string | undefined;
}

export interface WebButton {
  readonly label: string;
  /** What it is called where it is heard alone. */
  readonly spoken: string;
  /** Of an action. */
  readonly id?: string | undefined;
  /** Of a button that opens a page. */
  readonly url?: string | undefined;
  readonly emphasis?: 'primary' | undefined;
}

export interface WebContent {
  readonly title?: string | undefined;
  /** The person who is mentioned. */
  readonly mention?: string | undefined;
  readonly body: readonly WebNode[];
  readonly fields?: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly media?: readonly WebMedia[] | undefined;
  readonly buttons?: readonly WebButton[] | undefined;
  /** Behind a menu. */
  readonly more?: readonly WebButton[] | undefined;
  readonly progress?: Progress | undefined;
  readonly footer?: string | undefined;
}

export interface WebMessage extends WebContent {
  readonly id: string;
  readonly channel: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A person; absent for the bot. */
  readonly author?: string | undefined;
  /** The only person who sees it. */
  readonly to?: string | undefined;
  readonly replyTo?: string | undefined;
  /** The command that the author used, as it would be typed. */
  readonly line?: string | undefined;
  /** Names of what the author attached. */
  readonly attached?: readonly string[] | undefined;
  /** The words as Markdown, for conversations: the page does not get them. */
  readonly source: string;
}
