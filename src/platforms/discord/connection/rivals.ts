/** Another process that works with the same token: each of them gets every command, and work is done and paid twice. */
import type { Log } from '../../../core/telemetry/log.ts';
import type { PlatformStatus } from '../../platform.ts';

/** One may be an overlap of two replicas while a new version starts. */
const SURE_AFTER = 3;
const WITHIN_MS = 60_000;
const TELL_EVERY_MS = 10 * 60_000;
/** Repeated interactions come before the word that a session is resumed; their answers before or after it. */
const REPEATS_MS = 10_000;

const SENTENCE =
  'another process answers with the same DISCORD_TOKEN, so that work is done and paid twice: stop it, or give it a token of its own';

/** `elapsed`: milliseconds of a clock that is never set. */
export function createRivals({ elapsed, log }: { readonly elapsed: () => number; readonly log: Log }) {
  let seen: number[] = [];
  let toldAt = Number.NEGATIVE_INFINITY;
  let resumedAt = Number.NEGATIVE_INFINITY;
  const isSure = (): boolean => seen.filter((at) => at > elapsed() - WITHIN_MS).length >= SURE_AFTER;

  return {
    /** An interaction that came here had been answered before this process answered it. */
    saw(): void {
      if (elapsed() - resumedAt < REPEATS_MS) return;
      seen = [...seen, elapsed()].slice(-SURE_AFTER);
      if (!isSure() || elapsed() - toldAt < TELL_EVERY_MS) return;
      toldAt = elapsed();
      log.error({}, `Discord: ${SENTENCE}`);
    },

    /** A session goes on. What it repeats may have been answered by the process that had it before, so it is no sign. */
    resumed(): void {
      seen = [];
      resumedAt = elapsed();
    },

    status: (): PlatformStatus | undefined => (isSure() ? { ready: false, reason: SENTENCE } : undefined),
  };
}
