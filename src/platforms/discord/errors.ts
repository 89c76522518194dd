import { DiscordAPIError, HTTPError, RateLimitError } from 'discord.js';
import { PlatformError } from '../platform.ts';
import { listed } from './permissions.ts';

/** What an error of Discord means for us. https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export type Trouble =
  /** The interaction's token died or was never acknowledged. */
  | 'token-dead'
  | 'message-gone'
  | 'channel-gone'
  | 'no-access'
  | 'no-permission'
  | 'too-large'
  | 'too-many-follow-ups'
  | 'no-history'
  | 'unavailable'
  | 'refused'
  /** Not Discord's. */
  | 'other';

const TROUBLE_BY_CODE: ReadonlyMap<number | string, Trouble> = new Map<number, Trouble>([
  [10_062, 'token-dead'],
  [10_015, 'token-dead'],
  [50_027, 'token-dead'],
  [10_008, 'message-gone'],
  [50_005, 'message-gone'],
  [10_003, 'channel-gone'],
  [10_004, 'channel-gone'],
  [50_007, 'channel-gone'],
  [50_083, 'channel-gone'],
  [50_001, 'no-access'],
  [50_013, 'no-permission'],
  [40_005, 'too-large'],
  [40_094, 'too-many-follow-ups'],
  [160_002, 'no-history'],
  // Too many edits of an old message, slow mode, and other limits that pass.
  [30_046, 'unavailable'],
  [20_016, 'unavailable'],
  [20_028, 'unavailable'],
  [40_062, 'unavailable'],
  [40_333, 'unavailable'],
]);

export function troubleOf(error: unknown): Trouble {
  if (error instanceof DiscordAPIError) {
    const known = TROUBLE_BY_CODE.get(error.code);
    if (known) return known;
    if (error.status === 413) return 'too-large';
    // A revoked token may be replaced; what was to be said is kept until then.
    return error.status === 401 || error.status === 429 || error.status >= 500 ? 'unavailable' : 'refused';
  }
  if (error instanceof HTTPError || error instanceof RateLimitError) return 'unavailable';
  if (error instanceof PlatformError) return error.code === 'unavailable' ? 'unavailable' : 'refused';
  return 'other';
}

/** @param code of https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
export const isDiscordError = (error: unknown, code: number): boolean =>
  error instanceof DiscordAPIError && error.code === code;

const PERMISSIONS = 'View Channel, Send Messages, Send Messages in Threads, Embed Links and Attach Files';
/** For the person. */
export const lackingAdvice = (lacks: readonly string[]): string =>
  `I may not write in that channel as I should: I lack the permission ${listed(lacks)}.`;

const LONG_LIMIT_MS = 60_000;

/**
 * The same failure in the words of the port; what is not Discord's failure comes back as it is.
 * @param lacks permissions that are known to be missing there
 */
export function toPlatformError(error: unknown, lacks: readonly string[] = []): unknown {
  if (error instanceof PlatformError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  switch (troubleOf(error)) {
    case 'channel-gone':
    case 'message-gone':
      return new PlatformError('gone', detail, { cause: error });
    case 'token-dead':
    case 'too-many-follow-ups':
      return new PlatformError('gone', detail, {
        cause: error,
        advice: 'I could not answer in that channel, because I am not a member there.',
      });
    case 'no-access':
      return new PlatformError('not-invited', detail, {
        cause: error,
        advice: `I cannot see that channel. A moderator can let me in with these permissions: ${PERMISSIONS}.`,
      });
    case 'no-permission':
    case 'no-history':
      return new PlatformError('gone', detail, {
        cause: error,
        advice:
          lacks.length > 0
            ? lackingAdvice(lacks)
            : `I lack a permission in that channel. I need ${PERMISSIONS}.`,
      });
    case 'unavailable':
      return new PlatformError('unavailable', isUnauthorized(error) ? 'Discord refused the token' : detail, {
        cause: error,
        ...retryAfter(error),
      });
    case 'other':
      return error;
    case 'too-large':
    case 'refused':
      return new PlatformError('refused', detail, { cause: error });
  }
}

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof DiscordAPIError && error.status === 401;

function retryAfter(error: unknown): { retryAfterMs?: number } {
  if (error instanceof RateLimitError) return { retryAfterMs: error.retryAfter };
  return error instanceof DiscordAPIError && error.code === 30_046 ? { retryAfterMs: LONG_LIMIT_MS } : {};
}
