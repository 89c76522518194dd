import type { Log } from './telemetry/log.ts';

/** An error for the operator. Its message is our own and contains no secrets, so it is printed and logged unchanged. */
export class OperatorError extends Error {}

/** An error for the person who sent the request. Its message says what is wrong and what to do. Nothing was spent. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** The invalid option, so that a form can show the message next to its field. */
  readonly option: string | undefined;
  /**
   * When the same request may succeed, in milliseconds since the epoch. Infinity if a moderator or the operator has to change something;
   * absent if a retry may succeed at any time.
   */
  readonly refusedUntil: number | undefined;

  constructor(sentence: string, option?: string, refusedUntil?: number) {
    super(sentence);
    this.option = option;
    this.refusedUntil = refusedUntil;
  }
}

/** An error for a request that stays refused until a moderator or the operator changes a setting. */
export const refusedByDecision = (sentence: string): UserError =>
  new UserError(sentence, undefined, Number.POSITIVE_INFINITY);

/** An error for a request that only moderators may make. `sentence` is for people who are known not to be moderators. */
export function notModerator(
  { rightsUnknown = false }: { readonly rightsUnknown?: boolean },
  sentence: string,
): UserError {
  return rightsUnknown
    ? new UserError("I couldn't check whether you're a moderator here. Try again in a moment.")
    : refusedByDecision(sentence);
}

/** The message to show for any thrown error. A UserError is shown unchanged; other errors are logged with a reference. */
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

/** The system error code of a thrown value, such as `ENOSPC`, `ECONNRESET` or `UND_ERR_SOCKET`. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
