import type { Address } from '../invocation.ts';
import type { Message } from '../message.ts';
import type { Form } from '../options.ts';

/** The outcome of an invocation. */
export type Outcome =
  /** An immediate reply, to the person or to the channel. */
  | {
      readonly type: 'message';
      readonly visibility: 'person' | 'channel';
      readonly message: Message;
      /** Only confirms a button. Platforms that can show it for a moment, instead of posting it. */
      readonly brief?: true;
      /** The invalid option, so that an open form can show the message next to its field. */
      readonly option?: string;
      /** See UserError. */
      readonly refusedUntil?: number;
    }
  | { readonly type: 'form'; readonly form: Form }
  /** Stored as a job. The platform acknowledges the event, then calls `begin`. If it never does, the job begins automatically. */
  | {
      readonly type: 'accepted';
      readonly job: string;
      /** Shown to the person alone, because the result will be: see {@link Address.toPerson}. */
      readonly reply?: Message;
      readonly begin: () => void;
      /**
       * Replaces `begin` if the platform has already reported a timeout to the person: the job ends without a paid request, and its
       * message offers **Again**. Absent if nothing would be paid. Throws StorageError.
       */
      readonly decline?: () => Promise<void>;
    };

/** A reply that only the person sees. A string is Markdown. */
export function privately(message: Message | string): Outcome {
  return {
    type: 'message',
    visibility: 'person',
    message: typeof message === 'string' ? { text: message } : message,
  };
}

/** Confirms a button, whose result shows elsewhere. */
export function confirm(sentence: string): Outcome {
  return { type: 'message', visibility: 'person', brief: true, message: { text: sentence } };
}
