import { jitter } from '../../core/backoff.ts';
import type { System } from '../../core/system.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { Media } from '../media.ts';

/** Media may pass its quota by what is kept in this time. */
const EVERY_MS = 10 * 60_000;
/** Looking at many files takes seconds, and a bot that starts has more urgent work. */
const FIRST_MS = 60_000;

interface PruningOptions extends Pick<System, 'random' | 'sleep'> {
  readonly media: Pick<Media, 'prune'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * Prunes a minute from now and about every ten minutes; jitter keeps replicas with the same store apart. A failure is logged, and
 * the next round follows.
 */
export function startPruning({ media, log, random, sleep }: PruningOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    const rest = (ms: number) => sleep(jitter(ms, random), signal);
    await rest(FIRST_MS);
    while (!signal.aborted) {
      try {
        const { removed, removedBytes } = await media.prune();
        if (removed > 0) log.info({ removed, removedBytes }, 'Kept files were removed');
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'Kept files could not be pruned');
      }
      if (!signal.aborted) await rest(EVERY_MS);
    }
  }

  const running = run();
  return {
    /** Resolves when the current round is over; no other follows. */
    stop(): Promise<void> {
      stopping.abort();
      return running;
    },
  };
}
