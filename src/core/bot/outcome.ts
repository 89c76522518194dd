import type { Message } from '../message.ts';
import type { Form } from '../options.ts';

/** What comes of an invocation. */
export type Outcome =
  /** Said at once, to the person alone or to the channel. */
  | {
      readonly type: 'message';
      readonly visibility: 'person' | 'channel';
      readonly message: Message;
      /** The option that is wrong, so that an open form can show the sentence next to its field. */
      readonly option?: string;
      /** The same is refused again until then: see UserError. */
      readonly refusedUntil?: number;
    }
  | { readonly type: 'form'; readonly form: Form }
  /** Stored as a job. The platform acknowledges, then calls `begin`; if it never does, the job begins by itself soon. */
  | {
      readonly type: 'accepted';
      readonly job: string;
      readonly begin: () => void;
      /**
       * Instead of `begin`, where the platform told the person that the bot did not respond: the job ends unpaid, and its
       * person is told with **Again**. Absent where nothing would be paid. Throws StorageError.
       */
      readonly decline?: () => Promise<void>;
    };

/** Said to the person alone. A text is Markdown. */
export function privately(message: Message | string): Outcome {
  return {
    type: 'message',
    visibility: 'person',
    message: typeof message === 'string' ? { text: message } : message,
  };
}
