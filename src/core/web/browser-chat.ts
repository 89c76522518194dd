/** The JSON protocol between the browser chat and its page. It carries data, never markup. */
import type { Person } from '../invocation.ts';
import type { ActionButton, MediaItem, Message, Progress } from '../message.ts';
import type { Choice, Form, OptionDeclarations } from '../options.ts';

/** A node of parsed Markdown. */
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
  /** Content of text and code. */
  readonly value?: string;
  /** Target of a link, as written. */
  readonly url?: string;
  /** Level of a heading, from 1. */
  readonly depth?: number;
  /** First number of an ordered list. */
  readonly start?: number;
  /** State of a task list item. */
  readonly checked?: boolean;
  readonly language?: string;
  /** Marker of emphasis: an asterisk or underscore. */
  readonly sign?: string;
}

export interface BrowserMedia
  extends Pick<MediaItem, 'kind' | 'name' | 'alt' | 'caption' | 'cover' | 'part'> {
  readonly url?: string;
  readonly bytes?: number;
}

export interface BrowserButton extends Pick<ActionButton, 'label' | 'short' | 'icon' | 'group' | 'hint'> {
  /** Accessible name. */
  readonly accessibleName: string;
  /** Id of an action button. */
  readonly id?: string;
  /** Target of a link button. */
  readonly url?: string;
  readonly emphasis?: 'primary';
}

export interface BrowserVariant {
  readonly title: string;
  readonly body: readonly MarkdownNode[];
  readonly button: BrowserButton;
}

export interface BrowserMessage {
  readonly id: string;
  readonly channel: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A person; absent for the bot. */
  readonly author?: string | undefined;
  /** The only person who sees it; everyone if absent. */
  readonly to?: string | undefined;
  readonly replyTo?: string | undefined;
  /** The author's command, as typed. */
  readonly line?: string | undefined;
  /** Names of the attachments. */
  readonly attached?: readonly string[] | undefined;
  readonly title?: string | undefined;
  /** Target of the title. */
  readonly titleUrl?: string | undefined;
  /** The person to mention. */
  readonly mention?: string | undefined;
  readonly body: readonly MarkdownNode[];
  readonly fields?: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly media?: readonly BrowserMedia[] | undefined;
  readonly data?: Message['data'] | undefined;
  /** Alternatives, side by side. */
  readonly variants?: readonly BrowserVariant[] | undefined;
  readonly buttons?: readonly BrowserButton[] | undefined;
  /** Buttons in a menu. */
  readonly more?: readonly BrowserButton[] | undefined;
  readonly progress?: Progress | undefined;
  readonly footer?: string | undefined;
}

export interface BrowserChannel {
  readonly id: string;
  readonly name: string;
  readonly topic: string;
  /** The person, for direct messages; absent for channels of the server. */
  readonly direct?: string;
}

/** A command, for completion and forms. */
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
  /** The label of its entry in the menu of a message. */
  readonly messageMenu?: string | undefined;
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
  /** Replaces the typed text. */
  readonly value: string;
  readonly description?: string;
}

export type BrowserAnswer =
  /** The outcome appears in the chat, in the message with this id. */
  | { readonly type: 'done'; readonly shown?: string }
  /** A sentence to show for a moment. `draft` is an improved version of the line. */
  | { readonly type: 'notice'; readonly sentence: string; readonly draft?: string }
  /** `about` is the command as typed, or the title of the result whose button opened the form. */
  | { readonly type: 'form'; readonly form: Form; readonly about: string }
  /** A field of the sent form is invalid. */
  | { readonly type: 'wrong'; readonly option: string; readonly sentence: readonly MarkdownNode[] }
  | { readonly type: 'candidates'; readonly typed: string; readonly candidates: readonly Candidate[] }
  | { readonly type: 'choices'; readonly choices: readonly Choice[] }
  /** Nothing happened. The sentence is for the person. */
  | { readonly type: 'refused'; readonly sentence: string };
