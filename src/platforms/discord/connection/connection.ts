import type { System } from '../../../core/system.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import type { PlatformStatus } from '../../platform.ts';
import { isTokenRefused, TOKEN_REFUSED } from '../errors.ts';

/** Tells the adapter what happens on Discord. */
export interface DiscordConnection {
  /** Resolves when the first attempt has succeeded or failed; later ones go on by themselves. */
  open(): Promise<void>;
  close(): Promise<void>;
  status(): PlatformStatus;
  /** How many shards are connected. */
  connections(): number;
  /** How many replicas share the bot's shards, as far as this one knows; absent where none share them by themselves. */
  replicas?(): number;
}

/**
 * Work that goes on in the background from the first `open` to `close`, which aborts `signal` and resolves when it has ended.
 * `run` calls `attempted` after each attempt; `open` resolves with the first.
 */
export function backgroundLoop(run: (attempted: () => void) => Promise<void>) {
  const closing = new AbortController();
  let loop: Promise<void> | undefined;
  return {
    signal: closing.signal,
    open: () =>
      new Promise<void>((resolve) => {
        loop ??= run(resolve);
      }),
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
  };
}

/** Logs why there is no connection, and returns that: `otherwise` unless the token was refused, which needs no stack. */
export function tellTrouble(error: unknown, otherwise: string, log: Log): string {
  const isRefused = isTokenRefused(error);
  const reason = isRefused ? TOKEN_REFUSED : otherwise;
  const sentence = `Discord is not connected: ${reason}`;
  if (isRefused) log.error({}, sentence);
  else log.warn({ err: error }, sentence);
  return reason;
}

/** What trying again takes. */
export type RetryTools = Pick<System, 'random' | 'sleep' | 'log'>;
