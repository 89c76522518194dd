/**
 * What Minstrel says, free of any platform. Platforms render a Message totally: any Message fits within their limits,
 * none of its text is lost, and nothing in it pings people other than the person who asked.
 */
import { z } from 'zod';
import type { FormButton } from './options.ts';

export type MediaKind = 'audio' | 'image' | 'video' | 'file';

/** A file that Minstrel keeps; `name` is its key in the media store. */
export const keptFileSchema = z.object({ name: z.string(), bytes: z.number(), contentType: z.string() });
export type KeptFile = Readonly<z.infer<typeof keptFileSchema>>;

/** Where a media item's bytes are: still at the gateway's temporary URL, or kept by us and ready to be handed over. */
export type MediaSource =
  | { readonly type: 'remote'; readonly url: string }
  | { readonly type: 'kept'; readonly file: KeptFile };

export interface MediaItem {
  readonly kind: MediaKind;
  /** The file name that people see. Once the file is kept it is safe on every system and carries its extension. */
  readonly name: string;
  readonly source: MediaSource;
  /** Plain description for people who cannot see or hear it. */
  readonly alt?: string;
  /** Plain caption, such as "Take 1 · 2:31". */
  readonly caption?: string;
  /** A picture that decorates the message (a song's cover) instead of being its content. */
  readonly cover?: boolean;
  /** Written into an audio file where its type allows. Without them it carries its name and who asked. */
  readonly tags?: {
    readonly title: string;
    readonly artist: string;
    readonly lyrics?: string;
    readonly coverUrl?: string;
  };
  /** The same content in fewer bytes, for channels that do not take the file itself. Named like the item. */
  readonly smaller?: { readonly name: string; readonly source: MediaSource };
}

/** Shown below links that replace files. */
export const LINKED_FILES_SENTENCE =
  'Files that could not be uploaded here are linked instead. The links expire.';

/** A small fact: plain name, plain value. */
export interface Field {
  readonly name: string;
  readonly value: string;
}

/** A button. `id` is `command.action:job:index`, made by {@link actionId}. */
export interface ActionButton {
  readonly type: 'action';
  readonly id: string;
  readonly label: string;
  readonly emphasis?: 'primary';
  /** Plain: what it acts on, for people who hear the button alone. Left out, it is the message's title. */
  readonly about?: string;
}

/** A button that opens a page. */
export interface LinkButton {
  readonly type: 'link';
  readonly url: string;
  readonly label: string;
}

export type Button = ActionButton | LinkButton;

/** Work in progress. Times are in milliseconds since the epoch. */
export interface Progress {
  /** A plain sentence: what happens now. */
  readonly stage: string;
  readonly startedAt: number;
  /** Position in the queue, from 1; absent when the work is running. */
  readonly queuePosition?: number;
  /** How long such work took lately, in milliseconds. */
  readonly estimateMs?: number;
  /** When what the stage says ends. */
  readonly until?: number;
}

/** What a person says of an answer. */
export type Judgement = 'good' | 'bad';

export interface Message {
  /** Plain text. */
  readonly title?: string;
  /** Where the title leads, on platforms whose titles can be links: what it says is said without it. */
  readonly titleUrl?: string | undefined;
  /** Markdown (CommonMark and GFM). Text that is not meant as Markdown passes {@link plain} first. */
  readonly text?: string;
  readonly fields?: readonly Field[];
  readonly media?: readonly MediaItem[];
  readonly actions?: readonly Button[];
  readonly progress?: Progress;
  /** Plain small print. */
  readonly footer?: string;
  /** Ids of the actions that judge it, for platforms that have buttons for this. */
  readonly feedback?: Readonly<Record<Judgement, string>>;
  /** People may go on talking about it; a platform may offer a thread for that. */
  readonly conversation?: boolean;
  /** Mention the person who asked, and only them, once for each: that the result is here, or that it did not come or lacks files. */
  readonly notify?: 'ready' | 'incomplete';
}

/** A part of the page where a person sees the bot, such as Slack's Home tab. */
export interface HomeSection extends Message {
  readonly forms?: readonly FormButton[];
}

/** Discord's `custom_id` limit; Slack's `action_id` allows more. */
const ACTION_ID_LENGTH = 100;

export interface ActionReference {
  readonly command: string;
  readonly action: string;
  readonly job: string;
  readonly index: number;
}

/** Writes `command.action:job:index`. Throws RangeError past 100 characters, which only a wrong declaration can cause. */
export function actionId({ command, action, job, index }: ActionReference): string {
  const id = `${command}.${action}:${job}:${index}`;
  if (id.length > ACTION_ID_LENGTH)
    throw new RangeError(`Action id is longer than ${ACTION_ID_LENGTH}: ${id}`);
  return id;
}

/** A button of a job's command, for one item of its result. */
export function button(
  { id: job, command }: { readonly id: string; readonly command: string },
  action: string,
  label: string,
  index = 0,
): ActionButton {
  return { type: 'action', id: actionId({ command, action, job, index }), label };
}

export const againButton = (job: Parameters<typeof button>[0]): ActionButton => button(job, 'again', 'Again');

/** Reads what {@link actionId} wrote; undefined for anything else. */
export function parseActionId(id: string): ActionReference | undefined {
  const match = /^([a-z]+)\.([a-z-]+):([\w-]+):(0|[1-9]\d{0,3})$/.exec(id);
  const [, command, action, job, index] = match ?? [];
  if (!command || !action || !job || !index) return undefined;
  return { command, action, job, index: Number(index) };
}

/** Escapes every character that Markdown could take for markup, so that text from people and models shows as it is. */
export function plain(text: string): string {
  // Behind a backslash, brackets and backslashes could be read as a formula.
  return text.replace(/[\\[\]]|[`*_<>#+\-.!|~&:/@]/g, (sign) =>
    /[\\[\]]/.test(sign) ? `&#${sign.charCodeAt(0)};` : `\\${sign}`,
  );
}
