/** Deletes jobs and media past the retention period. */

import type { System } from '../core/system.ts';
import { dayOf, repeat } from '../core/util/clock.ts';
import { eraseJobs } from '../jobs/forget.ts';
import type { Media } from '../media/media.ts';
import type { ContestStore } from '../settings/contests/contests.ts';
import type { DecisionStore } from '../settings/decisions.ts';
import type { FeedbackStore } from '../settings/feedback.ts';
import type { Storage } from '../storage/storage.ts';
import type { Config } from './config/read.ts';

const DAY = 24 * 3_600_000;
/** For usage, votes and moderators' changes: a year, plus a month for comparison. */
const RETENTION_MS = 400 * DAY;

export interface CleanupOptions extends Pick<System, 'now' | 'log'> {
  readonly retentionMs: Config['retentionMs'];
  readonly storage: Storage;
  readonly media: Pick<Media, 'remove'>;
  readonly decisions: DecisionStore;
  readonly feedback: FeedbackStore;
  readonly contests: Pick<ContestStore, 'prune'>;
}

/** Cleans up now and then once a day. */
export function startCleanup(options: CleanupOptions): ReturnType<typeof repeat> {
  const { retentionMs, storage, media, decisions, feedback, contests, now, log } = options;
  async function cleanUp(): Promise<void> {
    const oldest = now() - RETENTION_MS;
    await storage.usage.prune(dayOf(oldest), now());
    await feedback.prune(dayOf(oldest));
    await decisions.prune(oldest);
    await contests.prune(retentionMs === undefined ? oldest : Math.max(oldest, now() - retentionMs));
    if (retentionMs === undefined) return;
    await eraseJobs(storage.jobs.endedBefore(now() - retentionMs), {
      storage,
      removeFile: (name) => media.remove(name),
    });
    await storage.scrub();
  }

  const attempt = () =>
    cleanUp().catch((error: unknown) => {
      log.warn({ err: error }, 'Could not delete expired jobs and media; retrying tomorrow');
    });
  return repeat(attempt, { everyMs: DAY });
}
