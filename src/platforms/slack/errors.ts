/** Maps Slack's errors to platform errors. */
import { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Address } from '../../core/invocation.ts';
import { PlatformError, type PlatformErrorCode } from '../platform.ts';

/** See https://docs.slack.dev/reference/methods/chat.postMessage#errors and the other methods. */
const CODES: Readonly<Record<string, PlatformErrorCode>> = {
  not_in_channel: 'not-invited',
  channel_not_found: 'gone',
  is_archived: 'gone',
  channel_is_archived: 'gone',
  messages_tab_disabled: 'gone',
  user_not_found: 'gone',
  user_disabled: 'gone',
  user_not_in_channel: 'gone',
  cannot_dm_bot: 'gone',
  restricted_action: 'gone',
  restricted_action_read_only_channel: 'gone',
  restricted_action_thread_only_channel: 'gone',
  restricted_action_non_threadable_channel: 'gone',
  // Recoverable by the operator or by Slack, so results wait instead of being lost.
  token_revoked: 'unavailable',
  token_expired: 'unavailable',
  invalid_auth: 'unavailable',
  not_authed: 'unavailable',
  account_inactive: 'unavailable',
  ratelimited: 'unavailable',
  rate_limited: 'unavailable',
  internal_error: 'unavailable',
  fatal_error: 'unavailable',
  service_unavailable: 'unavailable',
  request_timeout: 'unavailable',
  team_added_to_org: 'unavailable',
};

/** The token stays invalid until the operator replaces it. */
const TOKEN_ERRORS = /^(token_revoked|token_expired|invalid_auth|not_authed|account_inactive)$/;
/** Delay before a rejected token is tried again. */
export const TOKEN_RETRY_MS = 60_000;

/** Slack's error code, if Slack answered with one. */
export function slackErrorOf(error: unknown): string | undefined {
  return error instanceof webApi.WebAPIPlatformError ? error.data.error : undefined;
}

/** Details that Slack adds to its error code, such as the invalid block. */
export function slackReasonsOf(error: unknown): readonly string[] {
  if (!(error instanceof webApi.WebAPIPlatformError)) return [];
  return error.data.response_metadata?.messages ?? [];
}

export function isTokenError(error: unknown): boolean {
  return TOKEN_ERRORS.test(slackErrorOf(error) ?? '');
}

/** True if the request got no answer, so Slack may have processed it. */
export function isUncertain(error: unknown): boolean {
  if (error instanceof webApi.WebAPIRequestError || error instanceof webApi.WebAPIHTTPError) return true;
  // The SDK puts a body that is not JSON into `error`. Slack's own error codes are words.
  const code = slackErrorOf(error);
  return code !== undefined && !/^[a-z0-9_.:-]+$/i.test(code);
}

/** Slack's Retry-After in milliseconds. Undefined for other errors. */
export function retryAfterMs(error: unknown): number | undefined {
  return error instanceof webApi.WebAPIRateLimitedError ? error.retryAfter * 1000 : undefined;
}

interface NamedBot {
  /** Used in the advice to invite the bot. */
  readonly botName: () => string;
}

/** Converts an SDK error to a PlatformError. */
export function toPlatformError(error: unknown, { botName }: NamedBot): PlatformError {
  if (error instanceof PlatformError) return error;
  const wait = retryAfterMs(error);
  if (wait !== undefined) {
    return new PlatformError('unavailable', 'Slack rate limit reached', { cause: error, retryAfterMs: wait });
  }
  const code = slackErrorOf(error);
  if (code === undefined || isUncertain(error)) {
    return new PlatformError('unavailable', 'Could not reach Slack', { cause: error });
  }
  if (code === 'missing_scope') return missingScope(error);
  const meaning = CODES[code] ?? 'refused';
  return new PlatformError(meaning, `Slack rejected the request: ${code}`, {
    cause: error,
    ...(isTokenError(error) && { retryAfterMs: TOKEN_RETRY_MS }),
    ...(meaning === 'not-invited' && { advice: inviteAdvice(botName()) }),
    ...(meaning === 'gone' && {
      advice: 'That channel no longer accepts my messages. Use another channel.',
    }),
  });
}

function inviteAdvice(botName: string): string {
  return `I'm not in this channel, so I haven't started. Type /invite @${botName} and try again.`;
}

/**
 * Slack reports `channel_not_found` both for private channels without the bot and for direct messages between other people.
 */
export function asNotInvited(
  error: PlatformError,
  { channel }: Pick<Address, 'channel'>,
  { botName }: NamedBot,
): PlatformError {
  if (error.code !== 'gone' || slackErrorOf(error.cause) !== 'channel_not_found') return error;
  const advice = channel.startsWith('D')
    ? "I can't write in a direct message between other people, so I haven't started. Ask me in a channel, or send me a direct message."
    : inviteAdvice(botName());
  return new PlatformError('not-invited', error.message, { cause: error.cause, advice });
}

/** The bot posted there before, so the job has started and may be finished. */
export function asRemovedFromChannel(error: PlatformError, { botName }: NamedBot): PlatformError {
  if (error.code !== 'not-invited') return error;
  const advice = `I'm no longer in the channel where you requested this, so I'm sending it here. Type /invite @${botName()} there to bring me back.`;
  return new PlatformError('not-invited', error.message, { cause: error.cause, advice });
}

function missingScope(error: unknown): PlatformError {
  const data: unknown = error instanceof webApi.WebAPIPlatformError ? error.data : undefined;
  const scope = z.object({ needed: z.string() }).safeParse(data).data?.needed ?? 'a scope';
  return new PlatformError('refused', `The app is missing ${scope}`, {
    cause: error,
    advice:
      "I'm missing a permission that I need here. Ask the bot's operator to update the app from the manifest and reinstall it.",
  });
}

const TOKENS = {
  SLACK_BOT_TOKEN: 'the bot token from the “OAuth & Permissions” page',
  SLACK_APP_TOKEN: 'an app-level token with connections:write from the “Basic Information” page',
} as const;

/** Tells the operator which token Slack rejects, and where to get a new one. */
export function rejectedToken(setting: keyof typeof TOKENS, error: unknown): string {
  return `Slack rejected ${setting} (${slackErrorOf(error)}). Set it to ${TOKENS[setting]} at https://api.slack.com/apps, and restart`;
}
