/**
 * Messages, independent of the platform. A platform must be able to render every Message: it fits the platform's limits,
 * loses no text, and mentions nobody but the requester.
 */
import { z } from 'zod';
import type { FormButton } from './options.ts';

export type MediaKind = 'audio' | 'image' | 'video' | 'file';

/** A stored file. `name` is its key in the media store. */
export const mediaFileSchema = z.object({ name: z.string(), bytes: z.number(), contentType: z.string() });
export type MediaFile = Readonly<z.infer<typeof mediaFileSchema>>;

/** The location of a file: the gateway's temporary URL, or our media store. */
export type MediaSource =
  | { readonly type: 'remote'; readonly url: string }
  | { readonly type: 'stored'; readonly file: MediaFile };

export interface MediaItem {
  readonly kind: MediaKind;
  /** File name that people see. For a stored file it is valid on every system and includes the extension. */
  readonly name: string;
  readonly source: MediaSource;
  /** Description for people who cannot see or hear it, as plain text. */
  readonly alt?: string;
  /** Plain text, such as "Take 1 · 2:31". Left out of a player, which shows the name and the length. */
  readonly caption?: string;
  /** The image decorates the message, as a song's cover does. */
  readonly cover?: boolean;
  /** One part of a recording, such as a stem. Platforms may play all parts in sync. */
  readonly part?: boolean;
  /** Tags for the audio file, if its type supports them. By default its name and the requester. */
  readonly tags?: {
    readonly title: string;
    readonly artist: string;
    readonly lyrics?: string;
    readonly coverUrl?: string;
  };
  /** A smaller version for channels that reject the file itself. Named like the item. */
  readonly smaller?: { readonly name: string; readonly source: MediaSource };
}

/** Footnote below links that replace files. */
export const LINKED_FILES_SENTENCE =
  "Some files couldn't be uploaded, so I linked them instead. The links expire, so download them soon.";

/** A label and its value, both plain text. */
export interface Field {
  readonly name: string;
  readonly value: string;
  /** The time in the value, in milliseconds since the epoch. Some platforms show it in each reader's time zone instead. */
  readonly at?: number;
}

/** Names of icons. Each platform has its own drawings. */
export const ICONS = [
  'again',
  'cancel',
  'change',
  'cover',
  'extend',
  'karaoke',
  'listen',
  'lyrics',
  'open',
  'page',
  'pause',
  'play',
  'remove',
  'stems',
  'thread',
  'video',
  'voice',
  'wav',
] as const;
export type Icon = (typeof ICONS)[number];

interface ButtonText {
  /** Read by screen readers where the platform supports that, so it names its object if there are several. */
  readonly label: string;
  /** Shown instead of the label where space is scarce, such as "Extend 1". */
  readonly short?: string;
  /** Decoration: the label must make sense without it. */
  readonly icon?: Icon;
}

/** A button of a command. `id` is `command.action:job:index`, from {@link actionId}. */
export interface ActionButton extends ButtonText {
  readonly type: 'action';
  readonly id: string;
  readonly emphasis?: 'primary';
  /** The object of the action, for screen readers, as plain text. The message's title by default. */
  readonly about?: string;
  /** Buttons of one object, such as "Take 1", get their own row, and their own part of a menu. */
  readonly group?: string;
  /** Shown instead of the label in the group's part of a menu, such as "WAV". */
  readonly item?: string;
  /** An explanation in a few words, as plain text. Actions that need one go into the menu. */
  readonly hint?: string;
}

/** A button that opens a page. */
export interface LinkButton extends ButtonText {
  readonly type: 'link';
  readonly url: string;
}

export type Button = ActionButton | LinkButton;

/** The kind of result, for a placeholder of its shape. */
export type ResultKind = 'song' | 'stems' | 'lyrics' | 'image' | 'video' | 'answer';

/** Work in progress. Times are in milliseconds since the epoch. */
export interface Progress {
  /** The current stage, as plain text. */
  readonly stage: string;
  readonly result?: ResultKind;
  readonly startedAt: number;
  /** Position in the queue, from 1; absent if the work is running. */
  readonly queuePosition?: number;
  /** Typical duration of similar work, in milliseconds. */
  readonly estimateMs?: number;
  /** End of the stage. */
  readonly until?: number;
}

/** One of several alternatives, such as a version of lyrics. */
export interface Variant {
  /** Plain text. */
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  readonly action: ActionButton;
}

/** A vote on an answer. */
export type Judgement = 'good' | 'bad';

/** Bars over time, one series for each colour. Plain text. */
export interface Chart {
  readonly title: string;
  readonly categories: readonly string[];
  /** One value for each category. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** Plain text. The first column names the row. */
export interface Table {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Message {
  /** Plain text. */
  readonly title?: string;
  /** URL of the title, on platforms whose titles can be links. The message must make sense without it. */
  readonly titleUrl?: string | undefined;
  /** Markdown (CommonMark and GFM). Escape other text with {@link plain}. */
  readonly text?: string;
  readonly fields?: readonly Field[];
  readonly media?: readonly MediaItem[];
  /** For platforms that show alternatives side by side. There they replace `text`, `fields` and the buttons with their ids. */
  readonly variants?: readonly Variant[];
  readonly actions?: readonly Button[];
  readonly progress?: Progress;
  /** Shown instead of the fields and the media where the platform itself has charts and tables. */
  readonly data?: { readonly chart?: Chart; readonly tables: readonly Table[] };
  /** Small print, as plain text. */
  readonly footer?: string;
  /** Action ids of the votes, for platforms with built-in vote buttons. */
  readonly feedback?: Readonly<Record<Judgement, string>>;
  /** People may continue the conversation; a platform may offer a thread. */
  readonly conversation?: boolean;
  /** Mentions the requester once: the result is ready, missing or incomplete. */
  readonly notify?: 'ready' | 'incomplete';
  /** Platforms with coloured messages show it as a failure. */
  readonly isFailure?: true;
}

/** A section of the bot's home page, such as Slack's Home tab. */
export interface HomeSection extends Message {
  readonly forms?: readonly FormButton[];
  /** This section and the next ones are about one channel, so the menu to choose it follows the title. */
  readonly startsChannel?: true;
}

/** Discord's `custom_id` limit; Slack's `action_id` allows more. */
const ACTION_ID_LENGTH = 100;

export interface ActionReference {
  readonly command: string;
  readonly action: string;
  readonly job: string;
  readonly index: number;
}

/** Returns `command.action:job:index`. Throws RangeError if a declaration's names make it longer than 100 characters. */
export function actionId({ command, action, job, index }: ActionReference): string {
  const id = `${command}.${action}:${job}:${index}`;
  if (id.length > ACTION_ID_LENGTH)
    throw new RangeError(`Action id is longer than ${ACTION_ID_LENGTH}: ${id}`);
  return id;
}

/** Returns a button of a job's command for one item of its result. */
export function button(
  { id: job, command }: { readonly id: string; readonly command: string },
  action: string,
  label: string,
  index = 0,
): ActionButton {
  return { type: 'action', id: actionId({ command, action, job, index }), label };
}

export const againButton = (job: Parameters<typeof button>[0]): ActionButton => ({
  ...button(job, 'again', 'Again'),
  icon: 'again',
});

/** Opens a form with the last input. */
export const changeButton = (job: Parameters<typeof button>[0]): ActionButton => ({
  ...button(job, 'change', 'Change'),
  icon: 'change',
});

/** Parses an id from {@link actionId}; undefined for anything else. */
export function parseActionId(id: string): ActionReference | undefined {
  const match = /^([a-z]+)\.([a-z-]+):([\w-]+):(0|[1-9]\d{0,3})$/.exec(id);
  const [, command, action, job, index] = match ?? [];
  if (!command || !action || !job || !index) return undefined;
  return { command, action, job, index: Number(index) };
}

/** Escapes Markdown, so that text from people and models is shown unchanged. */
export function plain(text: string): string {
  // Behind a backslash, brackets and backslashes could be read as a formula.
  return text.replace(/[\\[\]]|[`*_<>#+\-.!|~&:/@]/g, (sign) =>
    /[\\[\]]/.test(sign) ? `&#${sign.charCodeAt(0)};` : `\\${sign}`,
  );
}
