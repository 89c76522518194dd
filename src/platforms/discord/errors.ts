/** What Discord's errors mean. */
import { DiscordAPIError, DiscordjsError, DiscordjsErrorCodes, HTTPError, RateLimitError } from 'discord.js';
import { PlatformError, type PlatformErrorCode } from '../platform.ts';
import { missingPermissionAdvice, NOT_INVITED } from './permissions.ts';

/** What an error of Discord means. https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export type Trouble =
  /** The interaction's token died or was never acknowledged. */
  | 'token-dead'
  | 'message-gone'
  | 'channel-gone'
  /** A thread that takes no edits until it is opened again. */
  | 'archived'
  | 'no-access'
  | 'no-permission'
  | 'too-large'
  | 'too-many-follow-ups'
  | 'no-history'
  | 'unavailable'
  /** AutoMod of the server. */
  | 'blocked'
  | 'refused'
  /** Not Discord's. */
  | 'other';

const CODES: readonly (readonly [Trouble, ...codes: (number | string)[]])[] = [
  ['token-dead', 10_062, 10_015, 50_027],
  ['message-gone', 10_008, 50_005],
  ['channel-gone', 10_003, 10_004, 50_007],
  ['archived', 50_083],
  ['no-access', 50_001],
  ['no-permission', 50_013],
  ['too-large', 40_005],
  ['too-many-follow-ups', 40_094],
  ['no-history', 160_002],
  ['blocked', 200_000, 200_001],
  // Too many edits of an old message, slow mode, and other limits that pass.
  ['unavailable', 30_046, 20_016, 20_028, 40_062, 40_333],
];

export function troubleOf(error: unknown): Trouble {
  if (error instanceof DiscordAPIError) {
    const [known] = CODES.find(([, ...codes]) => codes.includes(error.code)) ?? [];
    if (known) return known;
    if (error.status === 413) return 'too-large';
    // Discord's own answers are JSON with a code: this is the page of a proxy.
    if (error.code === undefined) return 'unavailable';
    // A revoked token may be replaced; what was to be said is kept until then.
    return error.status === 401 || error.status === 429 || error.status >= 500 ? 'unavailable' : 'refused';
  }
  if (error instanceof HTTPError || error instanceof RateLimitError) return 'unavailable';
  if (error instanceof PlatformError) return error.code === 'unavailable' ? 'unavailable' : 'refused';
  return 'other';
}

/** The result of `run`, or undefined when it fails with one of the `troubles`. */
export async function unlessTrouble<Value>(
  troubles: readonly Trouble[],
  run: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await run();
  } catch (error) {
    if (troubles.includes(troubleOf(error))) return undefined;
    throw error;
  }
}

/** @param code of https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export const isDiscordError = (error: unknown, code: number): boolean =>
  error instanceof DiscordAPIError && error.code === code;

/** What Discord answers for a guild that the bot is no member of. */
export const isNoMember = (error: unknown): boolean =>
  ['channel-gone', 'no-access'].includes(troubleOf(error));

const NOT_A_MEMBER = "I couldn't answer in that channel because I'm not a member of it.";
const CHANNEL_GONE = "That channel was deleted, or I can't access it.";
const AUTOMOD =
  "This server's AutoMod blocked my message. A moderator can exempt my role in Server Settings → Safety Setup → AutoMod.";
const ARCHIVED = "I couldn't finish this in the thread because it's archived and locked.";

/** The code of the port, and a sentence for the person. */
const PLATFORM_ERROR = {
  'channel-gone': ['gone', CHANNEL_GONE],
  archived: ['gone', ARCHIVED],
  'message-gone': ['gone'],
  'token-dead': ['gone', NOT_A_MEMBER],
  'too-many-follow-ups': ['gone', NOT_A_MEMBER],
  'no-access': ['not-invited', NOT_INVITED],
  'no-permission': ['gone', missingPermissionAdvice],
  'no-history': ['gone', missingPermissionAdvice],
  unavailable: ['unavailable'],
  'too-large': ['refused'],
  blocked: ['refused', AUTOMOD],
  refused: ['refused'],
} as const satisfies Record<
  Exclude<Trouble, 'other'>,
  readonly [PlatformErrorCode, (string | typeof missingPermissionAdvice)?]
>;

/**
 * The same failure in the words of the port; an error that is not Discord's comes back as it is.
 * @param missing permissions that are known to be missing there
 */
export function platformErrorOf(error: unknown, missing: readonly string[] = []): unknown {
  const trouble = troubleOf(error);
  if (error instanceof PlatformError || !(error instanceof Error) || trouble === 'other') return error;
  const [code, advice] = PLATFORM_ERROR[trouble];
  // Discord's own sentence may quote what it was sent.
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

/** For the operator. */
export const TOKEN_REFUSED =
  'Discord rejected the token. Press “Reset Token” on the Bot page at https://discord.com/developers/applications, set DISCORD_TOKEN, and restart';

/** What discord.js throws for a token that Discord refuses, or that no token looks like. */
export const isTokenRefused = (error: unknown): boolean =>
  isUnauthorized(error) ||
  (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid);

const LONG_LIMIT_MS = 60_000;

function retryAfterMs(error: Error): number | undefined {
  if (error instanceof RateLimitError) return error.retryAfter;
  return isDiscordError(error, 30_046) ? LONG_LIMIT_MS : undefined;
}
