/** A message on its way into Slack: where it goes, what of it stands, and what is remembered of that. */
import type { Address, Log } from '../../command.ts';
import type { ShowOptions } from '../platform.ts';
import type { IdentityReader } from './identity.ts';
import { readPosted, type SlackPosted, toPosted } from './posted.ts';
import type { UploadTools } from './upload.ts';

export interface ShowTools extends UploadTools {
  readonly log: Log;
  /** The message will change again at once, so no file is made of its text. */
  readonly passing?: boolean;
  /** Long text goes into the thread of the first message. */
  readonly inThread?: boolean;
  /** Nothing but the first message is written: the others are being streamed. */
  readonly firstOnly?: boolean;
  readonly identity: IdentityReader;
  /** As people type it after the @. */
  readonly botName: () => string;
}

export interface Post {
  readonly address: Address;
  /** The same for ever for the same post. */
  readonly key: string;
  /** Changed by every step, and remembered after each that must not happen twice. */
  readonly state: SlackPosted;
  readonly tools: ShowTools;
  remember(): Promise<void>;
  /** The first part stands where the person asked, everything else in its thread. */
  threadOf(part: number): string | undefined;
}

export function createPost(address: Address, { key, posted, remember }: ShowOptions, tools: ShowTools): Post {
  const state = readPosted(posted, address.channel);
  if (tools.inThread) state.inThread = true;
  return {
    address,
    key,
    state,
    tools,
    remember: () => remember(toPosted(state)),
    threadOf: (part) => address.thread ?? (part === 0 ? undefined : state.parts[0]?.ts),
  };
}

/** Whether anything of it is known to stand in Slack. */
export function stands({ state }: Post): boolean {
  return state.parts[0]?.ts !== undefined;
}
