/** One thing that a person asked of the bot: what, who, where. */
import { z } from 'zod';
import type { FileReference, RawOptions } from './options.ts';

export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What came of `JSON.parse`: its members are JSON, so they are not walked each time a record is read. */
export const jsonObject = z.custom<Record<string, z.core.util.JSONType>>(isPlainObject);

/** Where a result goes, and for whom. */
export const addressSchema = z.object({
  platform: z.string(),
  /** Guild or workspace; absent in direct messages. */
  guild: z.string().optional(),
  channel: z.string(),
  /** A conversation with the person alone: no part of the guild, also where the platform keeps it in one. */
  direct: z.boolean().optional(),
  /** Whether everybody in the server can read here; absent where the platform did not tell. */
  public: z.boolean().optional(),
  /** What people call the channel, without a sign, where the platform told it. */
  channelName: z.string().optional(),
  /** The channel that this one is a thread of, where the platform makes threads channels of their own. */
  parent: z.string().optional(),
  thread: z.string().optional(),
  /** The person who asked: the only one who may be mentioned, and who gets a direct message if the channel is gone. */
  person: z.string(),
  /** What only the platform reads, such as an interaction's token. Never logged. */
  platformData: jsonObject.optional(),
});
/** Serialisable: it is stored with the job. */
export type Address = z.infer<typeof addressSchema>;

/** The server whose decisions, voices and counters hold here; undefined in a direct conversation. */
export function serverOf({ guild, direct }: Pick<Address, 'guild' | 'direct'>): string | undefined {
  return direct === true ? undefined : guild;
}

/** Those on the operator's own machine: the terminal, and the chat in the browser. */
export const LOCAL_PLATFORMS: ReadonlySet<string> = new Set(['terminal', 'web']);

/** What people there call it. */
export function serverWord({ platform }: Pick<Address, 'platform'>): 'server' | 'workspace' {
  return platform === 'slack' ? 'workspace' : 'server';
}

/** A thread's channel, or the channel itself. */
export function channelOf({ channel, parent }: Pick<Address, 'channel' | 'parent'>): string {
  return parent ?? channel;
}

export interface Person {
  readonly id: string;
  readonly displayName: string;
  readonly moderator: boolean;
  /** Belongs to another workspace that shares the channel; 'unknown' when the platform could not say so in time. */
  readonly visitor?: boolean | 'unknown';
  /** The platform could not say in time whether the person moderates. */
  readonly rightsUnknown?: boolean;
  readonly roles: readonly string[];
}

/** What was said before, oldest first, read from the platform's own thread or reply chain. */
export interface ConversationTurn {
  readonly author: 'person' | 'bot';
  /** Who said it, for group talk. */
  readonly name?: string;
  /** The platform's id of who said it. */
  readonly person?: string;
  readonly text: string;
  readonly files: readonly FileReference[];
  /** Of the bot: the job that it belongs to, as far as the message itself tells. */
  readonly job?: string;
  /** Of the bot: the platform's id of the event that it answers. */
  readonly answers?: string;
}

/** Where what was said before can be read: only the platform that wrote it reads it. */
export type HistoryReference = z.infer<typeof jsonObject>;

/** One thing that a person asked of the bot. */
export interface Invocation {
  /** The platform's own id of the event; the same event that comes twice has the same id. */
  readonly id: string;
  readonly command: string;
  readonly subcommand?: string | undefined;
  /** A pressed button or a sent form: which, of which job, and which item of its result. */
  readonly action?: {
    readonly name: string;
    readonly job: string;
    readonly index: number;
    /** The action's form was sent, with {@link options}; otherwise its button was pressed. */
    readonly sent?: boolean;
  };
  readonly options: RawOptions;
  readonly address: Address;
  readonly person: Person;
  /** What was said before, as far as the platform knows it already. */
  readonly conversation?: readonly ConversationTurn[];
  /** What was said before that, to be read from the platform. */
  readonly history?: HistoryReference;
  /** It was said in a message, which the channel shows: the answer need not repeat it. */
  readonly isMessage?: boolean;
  /** Everything that was attached to what was said, where there is no option for it. */
  readonly files?: readonly FileReference[];
}

/** `options`: the others, as far as they are filled in; not validated. */
export interface SuggestRequest
  extends Pick<Invocation, 'command' | 'subcommand' | 'options' | 'address' | 'person'> {
  readonly option: string;
  /** What was typed so far. */
  readonly typed: string;
}

/** A person opens the page where they see the bot. `address` is the channel whose settings and songs are shown. */
export type HomeRequest = Pick<Invocation, 'address' | 'person'>;
