import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { ManualClock } from '../storage/manual-clock.ts';
import { RecordingLog } from '../storage/recording-log.ts';

/** Real storage that is closed after the test, with a manual clock. */
export async function memoryStorage(): Promise<{ storage: Storage; clock: ManualClock }> {
  const clock = new ManualClock(Date.parse('2026-03-10T12:00:00Z'));
  const storage = await openSqliteStorage({
    path: ':memory:',
    clock,
    random: () => 0.5,
    log: new RecordingLog(),
  });
  return { storage, clock };
}
