import { repeat } from '../../core/clock.ts';
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

/** Prunes a minute from now and about every ten minutes. A failure is logged, and the next round follows. */
export function startPruning({ media, log, random, sleep }: PruningOptions): ReturnType<typeof repeat> {
  const prune = async (stopping: AbortSignal): Promise<void> => {
    try {
      const { removed, removedBytes } = await media.prune();
      if (removed > 0) log.info({ removed, removedBytes }, 'Deleted old files');
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'Could not delete old files');
    }
  };
  return repeat(prune, { firstMs: FIRST_MS, everyMs: EVERY_MS, random, sleep });
}
