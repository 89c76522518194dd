/** A post: its address, and the stored state of its messages and files. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { type MediaReader, type PostState, postedSchema, type ShowOptions } from '../../platform.ts';
import type { SlackTools } from '../connection/client.ts';
import type { Identity, Workspace } from '../connection/workspaces.ts';

const partSchema = z.object({
  /** Absent while it is unknown whether Slack accepted the message. */
  ts: z.string().optional(),
  /** Digest of the content. Unchanged content is not written again. */
  digest: z.string().optional(),
});

const fileSchema = z.object({
  /** Slack's file ID. Absent if Slack rejected the file, which is then shown as a link. */
  id: z.string().optional(),
  /** `uploaded`: Slack has the bytes. `sharing`: unknown whether people see it. `shared`: people see it. */
  state: z.enum(['uploaded', 'sharing', 'shared', 'link']),
});

const slackPostSchema = z.object({
  channel: z.string(),
  /** The first is in the channel, the others in its thread. */
  parts: z.array(partSchema),
  /** By the name of the stored file. */
  files: z.record(z.string(), fileSchema),
  /** Long text stays in the thread where it was streamed. */
  inThread: z.boolean().optional(),
  /** Replaced messages, to be deleted once the parts are written. */
  replaced: z.array(z.string()).optional(),
  /** The requester was mentioned in a reply when the result was ready. */
  called: z.boolean(),
  /** The requester was mentioned in a reply about an incomplete result. */
  calledIncomplete: z.boolean().optional(),
});
type SlackPost = z.infer<typeof slackPostSchema>;

export interface ShowTools extends SlackTools, Pick<Workspace, 'identity' | 'botName' | 'agents' | 'people'> {
  readonly media: MediaReader;
  readonly log: Log;
}

/** Selects the parts of a message to write now. */
export interface ShowMode {
  /** The message will change again at once, so its text is not uploaded as a file. */
  readonly passing?: boolean;
  /** The message will change again, so it is skipped where messages cannot be edited. */
  readonly isUnfinished?: boolean;
  /** Long text goes into the thread of the first message. */
  readonly inThread?: boolean;
  /** Writes only the first message. The others are being streamed. */
  readonly firstOnly?: boolean;
}

export interface Post {
  readonly address: Address;
  /** Identifies the post across retries. */
  readonly key: string;
  readonly beforeWriting: ShowOptions['beforeWriting'];
  /** Mutable: every step updates it. */
  readonly state: SlackPost;
  readonly tools: ShowTools;
  readonly mode: ShowMode;
  /** Slack may have more messages than the state knows. */
  readonly isUncertain: boolean;
  /** Unknown files in its thread, from an interrupted try or another post. */
  readonly found: { id: string; name: string; size: number; called: boolean }[];
  /** The thread of a part: the first part is where the person asked, the others are in its thread. */
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
  // The unconfirmed write may also have been an edit.
  if (mayHavePosted) for (const part of state.parts) delete part.digest;
  const isUnconfirmed =
    state.parts.some(({ ts }) => ts === undefined) ||
    Object.values(state.files).some((file) => file.state === 'sharing');
  return {
    address,
    key,
    beforeWriting,
    state,
    tools,
    mode,
    isUncertain: mayHavePosted || isUnconfirmed,
    found: [],
    threadOf: (part) => address.thread ?? (part === 0 ? undefined : state.parts[0]?.ts),
  };
}

/**
 * The place to stream a text: below its message in an existing thread, or in the thread of its message. In a channel the text
 * stays in that thread. In a direct message it moves into the message at the end.
 */
export function layoutOf({ channel, thread }: Address): 'thread' | 'channel' | 'direct' {
  if (thread !== undefined) return 'thread';
  return /^[CG]/.test(channel) ? 'channel' : 'direct';
}

/** True if the first message is known to be posted. */
export function isPosted({ state }: Post): boolean {
  return state.parts[0]?.ts !== undefined;
}

/** Reads the stored state. Returns an empty one if it is absent or unreadable. */
export function readPosted(posted: PostState | undefined, channel: string): SlackPost {
  const read = slackPostSchema.safeParse(posted);
  return read.success ? read.data : { channel, parts: [], files: {}, called: false };
}

/** The state to store, without unset fields. */
export function toPosted(state: SlackPost): PostState {
  return postedSchema.parse(JSON.parse(JSON.stringify(state)));
}

/** Builds a permalink without a call, like https://docs.slack.dev/reference/methods/chat.getPermalink */
export function linkTo(
  { channel, thread }: Address,
  posted: PostState,
  identity: Identity,
): string | undefined {
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
