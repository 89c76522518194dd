import type { Log } from './telemetry/log.ts';

/** A fault that the operator reads about. Its message is written in this code and shows no secret, so it is printed and logged as it is. */
export class OperatorError extends Error {}

/** A sentence for the person, shown as it is: what is wrong, and what to do. Nothing was spent. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** The option that is wrong, so that a form can show the sentence next to its field. */
  readonly option: string | undefined;
  /**
   * Until then the same is refused again, in milliseconds since the epoch: a limit is reached. Infinite where moderators or the operator
   * decided it; absent where another try may succeed.
   */
  readonly refusedUntil: number | undefined;

  constructor(sentence: string, option?: string, refusedUntil?: number) {
    super(sentence);
    this.option = option;
    this.refusedUntil = refusedUntil;
  }
}

/** Refuses what moderators or the operator decided; it is refused again until they decide otherwise. */
export const refusedByDecision = (sentence: string): UserError =>
  new UserError(sentence, undefined, Number.POSITIVE_INFINITY);

/** Refuses what only moderators may do; says so when it could not be found out whether the person is one. */
export function notModerator(
  { rightsUnknown = false }: { readonly rightsUnknown?: boolean },
  sentence: string,
): UserError {
  return rightsUnknown
    ? new UserError("I couldn't check whether you're a moderator here. Try again in a moment.")
    : refusedByDecision(sentence);
}

/** What the person reads about anything thrown. A UserError is shown; the rest gets a reference and a log line. */
export function toMessage(
  error: unknown,
  { log, reference }: { readonly log: Pick<Log, 'error'>; readonly reference: string },
): { readonly text: string } {
  if (error instanceof UserError) return { text: error.message };
  log.error({ err: error, reference }, 'Request failed');
  return {
    text: `Something went wrong on my side. Please try again. If it happens again, give the bot's operator the reference \`${reference}\`.`,
  };
}

/** The system error code (`ENOSPC`, `ECONNRESET`, `UND_ERR_SOCKET`…) of anything thrown, if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
