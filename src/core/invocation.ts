/** A request to the bot: the command, the person and the place. */
import { z } from 'zod';
import type { FileReference, RawOptions } from './options.ts';

export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object from `JSON.parse`. Its members must be JSON, so they are not validated each time a record is read. */
export const jsonObject = z.custom<Record<string, z.core.util.JSONType>>(isPlainObject);

/** The channel that gets the result of a request, and the person who sent the request. */
export const addressSchema = z.object({
  platform: z.string(),
  /** Guild or workspace; absent in direct messages. */
  guild: z.string().optional(),
  channel: z.string(),
  /** A direct message. It doesn't count as part of the guild, even if the platform stores it in one. */
  direct: z.boolean().optional(),
  /** Results go to the requester's direct messages. The channel is where the request counts. */
  toPerson: z.boolean().optional(),
  /** Whether everyone in the server can read the channel; absent if unknown. */
  public: z.boolean().optional(),
  /** Name without `#`, if known. */
  channelName: z.string().optional(),
  /** The channel this thread belongs to, on platforms where threads are channels. */
  parent: z.string().optional(),
  thread: z.string().optional(),
  /** The requester: the only person to mention, who gets a direct message if the channel is gone. */
  person: z.string(),
  /** Data for the platform only, such as an interaction token. Never logged. */
  platformData: jsonObject.optional(),
});
/** Stored with the job, so it must be serialisable. */
export type Address = z.infer<typeof addressSchema>;

/** The server whose settings, voices and counters apply here; undefined in direct messages. */
export function serverOf({ guild, direct }: Pick<Address, 'guild' | 'direct'>): string | undefined {
  return direct === true ? undefined : guild;
}

/** Platforms on the operator's own machine: the terminal and the browser chat. */
export const LOCAL_PLATFORMS: ReadonlySet<string> = new Set(['terminal', 'web']);

/** The platform's word for a server. */
export function serverWord({ platform }: Pick<Address, 'platform'>): 'server' | 'workspace' {
  return platform === 'slack' ? 'workspace' : 'server';
}

/** The parent channel of a thread, or the channel itself. */
export function channelOf({ channel, parent }: Pick<Address, 'channel' | 'parent'>): string {
  return parent ?? channel;
}

export interface Person {
  readonly id: string;
  readonly displayName: string;
  readonly moderator: boolean;
  /** Member of another workspace that shares the channel; `unknown` if the platform did not answer in time. */
  readonly visitor?: boolean | 'unknown';
  /** The platform did not answer in time whether the person is a moderator. */
  readonly rightsUnknown?: boolean;
  readonly roles: readonly string[];
}

/** The requester, as stored with a request. */
export const storedPersonSchema = z.object({
  id: z.string(),
  displayName: z.string(),
  moderator: z.boolean(),
  roles: z.array(z.string()),
});

/** An earlier message of a conversation, from the platform's thread or reply chain. */
export interface ConversationTurn {
  readonly author: 'person' | 'bot';
  /** Display name of the author, for conversations of several people. */
  readonly name?: string;
  /** The platform's id of the author. */
  readonly person?: string;
  readonly text: string;
  readonly files: readonly FileReference[];
  /** Of a message by the bot: its job, if the message names it. */
  readonly job?: string;
  /** Of a message by the bot: the platform's id of the event it answers. */
  readonly answers?: string;
}

/** Tells the platform where to read the earlier messages. Opaque to everything else. */
export type HistoryReference = z.infer<typeof jsonObject>;

/** A request to the bot: a command, a pressed button or a sent form. */
export interface Invocation {
  /** The platform's id of the event. Repeated deliveries of an event have the same id. */
  readonly id: string;
  readonly command: string;
  readonly subcommand?: string | undefined;
  /** A pressed button or a sent form: its name, its job and the item of the job's result. */
  readonly action?: {
    readonly name: string;
    readonly job: string;
    readonly index: number;
  };
  /** A form was sent, with {@link options}. */
  readonly isForm?: boolean;
  readonly options: RawOptions;
  readonly address: Address;
  readonly person: Person;
  /** Earlier messages that the platform already knows, oldest first. */
  readonly conversation?: readonly ConversationTurn[];
  /** Messages before those, to be read from the platform. */
  readonly history?: HistoryReference;
  /** Sent by a schedule or a model for the person. */
  readonly isAutomatic?: boolean;
  /** The request is a visible message, so the answer does not have to repeat it. */
  readonly isMessage?: boolean;
  /** Attachments that belong to no option. */
  readonly files?: readonly FileReference[];
}

/** A request to complete an option. `options` holds the other values filled in so far, not validated. */
export interface SuggestRequest
  extends Pick<Invocation, 'command' | 'subcommand' | 'options' | 'address' | 'person'> {
  readonly option: string;
  /** The text typed so far. */
  readonly typed: string;
}

/** A person opens the bot's home page. `address` is the channel whose settings and songs it shows. */
export type HomeRequest = Pick<Invocation, 'address' | 'person'>;
