/** What the chat in the browser and its page tell each other: data, and no markup. The page gets it as JSON. */
import type { Person } from '../invocation.ts';
import type { MediaItem, Progress } from '../message.ts';
import type { Choice, Form, OptionDeclarations } from '../options.ts';

/** Markdown, read: blocks and phrasing. */
export interface MarkdownNode {
  readonly type:
    | 'paragraph'
    | 'heading'
    | 'blockquote'
    | 'list'
    | 'listItem'
    | 'table'
    | 'tableRow'
    | 'tableCell'
    | 'code'
    | 'thematicBreak'
    | 'text'
    | 'inlineCode'
    | 'break'
    | 'strong'
    | 'emphasis'
    | 'delete'
    | 'link';
  readonly children?: MarkdownNode[];
  /** Of text and code. */
  readonly value?: string;
  /** Of a link, as it was written. */
  readonly url?: string;
  /** Of a heading, from 1. */
  readonly depth?: number;
  /** Of a list that counts: the first number. */
  readonly start?: number;
  /** Of a task in a list. */
  readonly checked?: boolean;
  readonly language?: string;
  /** The sign of emphasis: one asterisk or underscore. */
  readonly sign?: string;
}

export interface BrowserMedia extends Pick<MediaItem, 'kind' | 'name' | 'alt' | 'caption' | 'cover'> {
  readonly url?: string;
  readonly bytes?: number;
}

export interface BrowserButton {
  readonly label: string;
  /** What it is called where it is heard alone. */
  readonly spoken: string;
  /** Of an action. */
  readonly id?: string;
  /** Of a button that opens a page. */
  readonly url?: string;
  readonly emphasis?: 'primary';
}

export interface BrowserMessage {
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
  readonly title?: string | undefined;
  /** The person who is mentioned. */
  readonly mention?: string | undefined;
  readonly body: readonly MarkdownNode[];
  readonly fields?: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly media?: readonly BrowserMedia[] | undefined;
  readonly buttons?: readonly BrowserButton[] | undefined;
  /** Behind a menu. */
  readonly more?: readonly BrowserButton[] | undefined;
  readonly progress?: Progress | undefined;
  readonly footer?: string | undefined;
}

export interface BrowserChannel {
  readonly id: string;
  readonly name: string;
  readonly topic: string;
  /** The person whose direct messages it holds; absent for channels of the server. */
  readonly direct?: string;
}

/** A command as the page completes it and asks for it by a form. */
export interface BrowserCommand {
  readonly name: string;
  readonly description: string;
  readonly options: OptionDeclarations;
  readonly subcommands: readonly {
    readonly name: string;
    readonly description: string;
    readonly options: OptionDeclarations;
  }[];
  readonly moderatorsOnly?: boolean | undefined;
  readonly messageMenu?: { readonly label: string; readonly option: string } | undefined;
}

export type BrowserEvent =
  | {
      readonly type: 'all';
      readonly person: string;
      readonly people: readonly Person[];
      readonly channels: readonly BrowserChannel[];
      readonly commands: readonly BrowserCommand[];
      readonly messages: readonly BrowserMessage[];
    }
  | { readonly type: 'message'; readonly message: BrowserMessage }
  | { readonly type: 'removed'; readonly ids: readonly string[] };

/** Completes a typed line. */
export interface Candidate {
  /** What replaces the typed text. */
  readonly value: string;
  readonly description?: string;
}

export type BrowserAnswer =
  /** What comes of it is shown in the chat. */
  | { readonly type: 'done' }
  | { readonly type: 'form'; readonly form: Form; readonly name: string }
  /** A field of the sent form is wrong. */
  | { readonly type: 'wrong'; readonly option: string; readonly sentence: readonly MarkdownNode[] }
  | { readonly type: 'candidates'; readonly typed: string; readonly candidates: readonly Candidate[] }
  | { readonly type: 'choices'; readonly choices: readonly Choice[] }
  /** Nothing was done; the sentence is for the person. */
  | { readonly type: 'refused'; readonly sentence: string };
