/** Classifies Discord's errors. */
import { DiscordAPIError, DiscordjsError, DiscordjsErrorCodes, HTTPError, RateLimitError } from 'discord.js';
import { PlatformError, type PlatformErrorCode } from '../platform.ts';
import { missingPermissionAdvice, NOT_INVITED } from './permissions.ts';

/** The kinds of Discord errors that the bot handles differently. https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export type ErrorKind =
  /** The interaction's token expired, or the interaction was never acknowledged. */
  | 'token-expired'
  | 'message-deleted'
  | 'channel-deleted'
  /** The thread accepts no edits until it is reopened. */
  | 'archived'
  | 'no-access'
  | 'no-permission'
  | 'too-large'
  | 'too-many-follow-ups'
  | 'no-history'
  | 'unavailable'
  /** The server's AutoMod blocked the message. */
  | 'blocked'
  | 'refused'
  /** Not an error from Discord. */
  | 'other';

const CODES: readonly (readonly [ErrorKind, ...codes: (number | string)[]])[] = [
  ['token-expired', 10_062, 10_015, 50_027],
  ['message-deleted', 10_008, 50_005],
  ['channel-deleted', 10_003, 10_004, 50_007],
  ['archived', 50_083],
  ['no-access', 50_001],
  ['no-permission', 50_013],
  ['too-large', 40_005],
  ['too-many-follow-ups', 40_094],
  ['no-history', 160_002],
  ['blocked', 200_000, 200_001],
  // Temporary limits: too many edits of an old message, slow mode and others.
  ['unavailable', 30_046, 20_016, 20_028, 40_062, 40_333],
];

export function errorKindOf(error: unknown): ErrorKind {
  if (error instanceof DiscordAPIError) {
    const [known] = CODES.find(([, ...codes]) => codes.includes(error.code)) ?? [];
    if (known) return known;
    if (error.status === 413) return 'too-large';
    // Discord's errors are JSON with a code, so this is a proxy's error page.
    if (error.code === undefined) return 'unavailable';
    // A revoked token (401) may be replaced, so messages are retried until then.
    return error.status === 401 || error.status === 429 || error.status >= 500 ? 'unavailable' : 'refused';
  }
  if (error instanceof HTTPError || error instanceof RateLimitError) return 'unavailable';
  if (error instanceof PlatformError) return error.code === 'unavailable' ? 'unavailable' : 'refused';
  return 'other';
}

/** Returns the result of `run`, or undefined if it fails with an error of one of the `kinds`. */
export async function ignoreErrors<Value>(
  kinds: readonly ErrorKind[],
  run: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await run();
  } catch (error) {
    if (kinds.includes(errorKindOf(error))) return undefined;
    throw error;
  }
}

/** @param code a JSON error code: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export const isDiscordError = (error: unknown, code: number): boolean =>
  error instanceof DiscordAPIError && error.code === code;

/** True if Discord's error means that the bot is not a member of the guild. */
export const isNotMember = (error: unknown): boolean =>
  ['channel-deleted', 'no-access'].includes(errorKindOf(error));

const NOT_A_MEMBER =
  "I can't post in that channel because I'm not a member of this server. Ask a moderator to add me.";
const CHANNEL_GONE =
  "That channel was deleted, or I can't access it. Ask a moderator to give me access, or use another channel.";
const AUTOMOD =
  "This server's AutoMod blocked my message. A moderator can exempt my role in Server Settings → Safety Setup → AutoMod.";
const ARCHIVED = 'That thread is archived and locked. Ask a moderator to unlock it, or use the channel.';

/** The platform-independent code, and advice for the reader. */
const PLATFORM_ERROR = {
  'channel-deleted': ['gone', CHANNEL_GONE],
  archived: ['gone', ARCHIVED],
  'message-deleted': ['gone'],
  'token-expired': ['gone', NOT_A_MEMBER],
  'too-many-follow-ups': ['gone', NOT_A_MEMBER],
  'no-access': ['not-invited', NOT_INVITED],
  'no-permission': ['gone', missingPermissionAdvice],
  'no-history': ['gone', missingPermissionAdvice],
  unavailable: ['unavailable'],
  'too-large': ['refused'],
  blocked: ['refused', AUTOMOD],
  refused: ['refused'],
} as const satisfies Record<
  Exclude<ErrorKind, 'other'>,
  readonly [PlatformErrorCode, (string | typeof missingPermissionAdvice)?]
>;

/**
 * Converts Discord's errors to PlatformError. Returns other errors unchanged.
 * @param missing permissions known to be missing in the channel
 */
export function platformErrorOf(error: unknown, missing: readonly string[] = []): unknown {
  const kind = errorKindOf(error);
  if (error instanceof PlatformError || !(error instanceof Error) || kind === 'other') return error;
  const [code, advice] = PLATFORM_ERROR[kind];
  // Discord's message may quote the content that was sent.
  const known =
    error instanceof DiscordAPIError ? `Discord rejected a request with code ${error.code}` : error.name;
  return new PlatformError(code, isUnauthorized(error) ? 'Discord rejected the token' : known, {
    cause: error,
    advice: typeof advice === 'function' ? advice(missing) : advice,
    retryAfterMs: retryAfterMs(error),
  });
}

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof DiscordAPIError && error.status === 401;

/** Shown to the operator. */
export const TOKEN_REJECTED =
  'Discord rejected the token. Press “Reset Token” on the Bot page at https://discord.com/developers/applications, set DISCORD_TOKEN, and restart';

/** True if Discord rejected the token, or discord.js found it malformed. */
export const isTokenRejected = (error: unknown): boolean =>
  isUnauthorized(error) ||
  (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid);

const LONG_LIMIT_MS = 60_000;

function retryAfterMs(error: Error): number | undefined {
  if (error instanceof RateLimitError) return error.retryAfter;
  return isDiscordError(error, 30_046) ? LONG_LIMIT_MS : undefined;
}
