/** A post: its address, what Slack already shows of it, and what is stored of that. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { type MediaReader, type Posted, postedSchema, type ShowOptions } from '../../platform.ts';
import type { SlackTools } from '../connection/client.ts';
import type { Identity, Workspace } from '../connection/workspaces.ts';

const partSchema = z.object({
  /** Absent while it is unknown whether Slack took the message. */
  ts: z.string().optional(),
  /** Of the content, so that the same content is not written again. */
  digest: z.string().optional(),
});

const fileSchema = z.object({
  /** Slack's id; absent when Slack did not take the file, which is then shown as a link. */
  id: z.string().optional(),
  /** `uploaded`: Slack has the bytes. `sharing`: it is unknown whether people see it. `shared`: they do. */
  state: z.enum(['uploaded', 'sharing', 'shared', 'link']),
});

const slackPostedSchema = z.object({
  channel: z.string(),
  /** In order: the first is in the channel, the others are in its thread. */
  parts: z.array(partSchema),
  /** By the kept file's name. */
  files: z.record(z.string(), fileSchema),
  /** Long text is in the thread, where it was streamed. */
  inThread: z.boolean().optional(),
  /** Messages that go when the parts are written: others hold their text. */
  replaced: z.array(z.string()).optional(),
  /** The person was told that the result is ready, after the message was posted without a mention. */
  called: z.boolean(),
  /** The same of a result that is not complete. */
  calledIncomplete: z.boolean().optional(),
});
type SlackPosted = z.infer<typeof slackPostedSchema>;

export interface ShowTools extends SlackTools, Pick<Workspace, 'identity' | 'botName' | 'agents' | 'people'> {
  readonly media: MediaReader;
  readonly log: Log;
}

/** How much of a message is written now. */
export interface ShowMode {
  /** The message will change again at once, so no file is made of its text. */
  readonly passing?: boolean;
  /** The message will change again, so where nothing can be edited it is left out. */
  readonly isUnfinished?: boolean;
  /** Long text goes into the thread of the first message. */
  readonly inThread?: boolean;
  /** Only the first message is written: the others are being streamed. */
  readonly firstOnly?: boolean;
}

export interface Post {
  readonly address: Address;
  /** The same for ever for the same post. */
  readonly key: string;
  readonly beforeWriting: ShowOptions['beforeWriting'];
  /** Changed by every step. */
  readonly state: SlackPosted;
  readonly tools: ShowTools;
  readonly mode: ShowMode;
  /** Slack may show more of it than the state tells. */
  readonly isUncertain: boolean;
  /** Files in its thread that no state tells of: an interrupted try shared them, or they belong to another post. */
  readonly found: { id: string; name: string; size: number; called: boolean }[];
  /** The first part is where the person asked, everything else in its thread. */
  threadOf(part: number): string | undefined;
}

export function createPost(
  address: Address,
  options: ShowOptions,
  tools: ShowTools,
  mode: ShowMode = {},
): Post {
  const { key, posted, mayHavePosted = false, beforeWriting } = options;
  const state = readPosted(posted, address.channel);
  if (mode.inThread) state.inThread = true;
  // What was posted apart from what is known may also have been an edit.
  if (mayHavePosted) for (const part of state.parts) delete part.digest;
  const isUnanswered =
    state.parts.some(({ ts }) => ts === undefined) ||
    Object.values(state.files).some((file) => file.state === 'sharing');
  return {
    address,
    key,
    beforeWriting,
    state,
    tools,
    mode,
    isUncertain: mayHavePosted || isUnanswered,
    found: [],
    threadOf: (part) => address.thread ?? (part === 0 ? undefined : state.parts[0]?.ts),
  };
}

/**
 * Where a text is streamed: below its message in the thread of people, or in the thread of its message. In a channel it stays
 * there; in a direct message the message itself holds it in the end.
 */
export function layoutOf({ channel, thread }: Address): 'thread' | 'channel' | 'direct' {
  if (thread !== undefined) return 'thread';
  return /^[CG]/.test(channel) ? 'channel' : 'direct';
}

/** Whether the first message is known to be in Slack. */
export function isPosted({ state }: Post): boolean {
  return state.parts[0]?.ts !== undefined;
}

/** What an earlier call stored; a fresh start when there is nothing, or nothing that can be read. */
export function readPosted(posted: Posted | undefined, channel: string): SlackPosted {
  const read = slackPostedSchema.safeParse(posted);
  return read.success ? read.data : { channel, parts: [], files: {}, called: false };
}

/** The state as it is stored: what is not set is left out. */
export function toPosted(state: SlackPosted): Posted {
  return postedSchema.parse(JSON.parse(JSON.stringify(state)));
}

/** As chat.getPermalink writes it, without a call: https://docs.slack.dev/reference/methods/chat.getPermalink */
export function linkTo({ channel, thread }: Address, posted: Posted, identity: Identity): string | undefined {
  const state = readPosted(posted, channel);
  const ts = state.parts[0]?.ts;
  if (ts === undefined || identity.url === undefined) return undefined;
  const link = new URL(`archives/${state.channel}/p${ts.replace('.', '')}`, identity.url);
  if (thread !== undefined) {
    link.searchParams.set('thread_ts', thread);
    link.searchParams.set('cid', state.channel);
  }
  return link.href;
}
