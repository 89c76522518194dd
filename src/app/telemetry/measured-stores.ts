/** Wraps storage and media to measure their operations. */

import type { Measure } from '../../core/telemetry/series.ts';
import type { MediaStore } from '../../media/store/media-store.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';

/** Times operations on jobs. */
export function measuredStorage(storage: Storage, measure: Measure, elapsed: () => number): Storage {
  async function timed<Value>(operation: string, run: () => Promise<Value>): Promise<Value> {
    const startedAt = elapsed();
    const report = (outcome: string) =>
      measure('minstrel_storage_seconds', { operation, outcome }, (elapsed() - startedAt) / 1000);
    try {
      const value = await run();
      report('ok');
      return value;
    } catch (error) {
      report(error instanceof StorageError ? error.code : 'error');
      throw error;
    }
  }
  return {
    ...storage,
    accept: (acceptance) => timed('accept', () => storage.accept(acceptance)),
    receive: (callback) => timed('receive', () => storage.receive(callback)),
    check: () => timed('check', () => storage.check()),
    jobs: {
      ...storage.jobs,
      read: (id) => timed('read', () => storage.jobs.read(id)),
      replace: (job) => timed('replace', () => storage.jobs.replace(job)),
    },
    schedule: {
      ...storage.schedule,
      wake: (job) => timed('wake', () => storage.schedule.wake(job)),
    },
  };
}

/** Counts stored and pruned bytes, and compares the stored ones with the quota. */
export function measuredStore(store: MediaStore, quotaBytes: number, measure: Measure): MediaStore {
  measure('minstrel_media_quota_bytes', {}, quotaBytes);
  return {
    ...store,
    async put(source, hint) {
      const file = await store.put(source, hint);
      measure('minstrel_media_kept_bytes_total', { extension: hint.extension }, file.bytes);
      return file;
    },
    async prune() {
      const report = await store.prune();
      measure('minstrel_media_pruned_bytes_total', {}, report.removedBytes);
      measure('minstrel_media_bytes', {}, report.storedBytes);
      return report;
    },
  };
}
