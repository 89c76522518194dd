import type { System } from '../../core/system.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { repeat } from '../../core/util/clock.ts';
import type { Media } from '../media.ts';

/** Media may exceed its quota by the files stored in this time. */
const INTERVAL_MS = 10 * 60_000;
/** Listing many files takes seconds, and a starting bot has more urgent work. */
const FIRST_MS = 60_000;

interface PruningOptions extends Pick<System, 'random' | 'sleep'> {
  readonly media: Pick<Media, 'prune'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Prunes after a minute and then about every ten minutes. Logs failures and continues. */
export function startPruning({ media, log, random, sleep }: PruningOptions): ReturnType<typeof repeat> {
  const prune = async (stopping: AbortSignal): Promise<void> => {
    try {
      const { removed, removedBytes } = await media.prune();
      if (removed > 0) log.info({ removed, removedBytes }, 'Deleted old files');
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'Could not delete old files');
    }
  };
  return repeat(prune, { firstMs: FIRST_MS, everyMs: INTERVAL_MS, random, sleep });
}
