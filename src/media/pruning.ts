import type { Log } from '../command.ts';
import type { Media } from './media.ts';

const EVERY_MS = 60 * 60_000;

export interface PruningOptions {
  readonly media: Pick<Media, 'prune'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Resolves after so many milliseconds; rejects when the signal ends the wait. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Pruning {
  /** Begins no other round, and resolves when the one that runs is over. */
  stop(): Promise<void>;
}

/**
 * Lets go what is too old or too much, now and about once an hour; replicas that share a place come apart by
 * chance. A round that fails is told in the log, and is followed by the next all the same.
 */
export function startPruning({ media, log, random, sleep }: PruningOptions): Pruning {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function pruneOnce(): Promise<void> {
    try {
      const { removed, removedBytes } = await media.prune();
      if (removed > 0) log.info({ removed, removedBytes }, 'Kept files were let go');
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'Kept files could not be looked through');
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await pruneOnce();
      if (signal.aborted) return;
      await sleep(EVERY_MS * (0.75 + random() / 2), signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}
