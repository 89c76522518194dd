import type { Message } from './message.ts';

/** A sentence for the person, shown as it is: what is wrong, and the way out. Nothing was spent. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** The option that is wrong, so that a form can show the sentence beside its field. */
  readonly option: string | undefined;

  constructor(sentence: string, option?: string) {
    super(sentence);
    this.option = option;
  }
}

export interface ErrorLog {
  error(fields: object, sentence: string): void;
}

/** Turns anything thrown into what the person reads. A UserError is shown; the rest gets a reference and a log line. */
export function toMessage(error: unknown, { log, reference }: { log: ErrorLog; reference: string }): Message {
  if (error instanceof UserError) return { text: error.message };
  log.error({ err: error, reference }, 'Something broke');
  return {
    text: `Something broke on our side. Please try again; if it happens again, tell whoever runs this bot the reference \`${reference}\`.`,
  };
}
