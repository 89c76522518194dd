import type { Log } from './telemetry/log.ts';

/** A sentence for the person, shown as it is: what is wrong, and what to do. Nothing was spent. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** The option that is wrong, so that a form can show the sentence next to its field. */
  readonly option: string | undefined;

  constructor(sentence: string, option?: string) {
    super(sentence);
    this.option = option;
  }
}

/** Refuses what only moderators may do; says so when it could not be found out whether the person is one. */
export function notModerator(
  { rightsUnknown = false }: { readonly rightsUnknown?: boolean },
  sentence: string,
): UserError {
  return new UserError(
    rightsUnknown
      ? 'I could not check whether you are a moderator here. Please try again in a moment.'
      : sentence,
  );
}

/** What the person reads about anything thrown. A UserError is shown; the rest gets a reference and a log line. */
export function toMessage(
  error: unknown,
  { log, reference }: { readonly log: Pick<Log, 'error'>; readonly reference: string },
): { readonly text: string } {
  if (error instanceof UserError) return { text: error.message };
  log.error({ err: error, reference }, 'Something broke');
  return {
    text: `Something broke on our side. Please try again; if it happens again, tell whoever runs this bot the reference \`${reference}\`.`,
  };
}

/** The system error code (`ENOSPC`, `ECONNRESET`, `UND_ERR_SOCKET`…) of anything thrown, if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
