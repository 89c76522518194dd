/** One thing that a person asked of the bot: what, who, where. */
import { z } from 'zod';
import type { FileReference, RawOptions } from './declaration.ts';

export const addressSchema = z.object({
  platform: z.string(),
  /** Guild or workspace; absent in direct messages. */
  guild: z.string().optional(),
  channel: z.string(),
  /** The channel that this one is a thread of, where the platform makes threads channels of their own. */
  parent: z.string().optional(),
  thread: z.string().optional(),
  /** The person who asked: the only one who may be mentioned, and who gets a direct message if the place is gone. */
  person: z.string(),
  /** What only the platform reads, such as an interaction's token. Never logged. */
  platformData: z.record(z.string(), z.json()).optional(),
});
/** Where a result goes. Serialisable: it is stored with the job. */
export type Address = z.infer<typeof addressSchema>;

export interface Person {
  readonly id: string;
  readonly displayName: string;
  readonly moderator: boolean;
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
}

/** One thing that a person asked of the bot. */
export interface Invocation {
  /** The platform's own id of the event; the same event that comes twice has the same id. */
  readonly id: string;
  readonly command: string;
  readonly subcommand?: string;
  /** A pressed button or a sent form: which, of which job, and which item of its result. */
  readonly action?: {
    readonly name: string;
    readonly job: string;
    readonly index: number;
    /** The action's form was sent, with what stands in {@link options}; otherwise its button was pressed. */
    readonly sent?: boolean;
  };
  readonly options: RawOptions;
  readonly address: Address;
  readonly person: Person;
  readonly conversation?: readonly ConversationTurn[];
  /** Everything that was attached to what was said, where there is no option for it. */
  readonly files?: readonly FileReference[];
  /** The person's language, as the platform tells it (BCP 47). */
  readonly locale?: string;
}

export interface SuggestRequest {
  readonly command: string;
  readonly subcommand?: string;
  readonly option: string;
  /** What was typed so far. */
  readonly typed: string;
  readonly address: Address;
  readonly person: Person;
}
