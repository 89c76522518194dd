/** A store whose kept and pruned bytes are counted, for operators. */
import type { Measure } from '../../core/series.ts';
import type { MediaStore } from './store.ts';

export function measuredStore(store: MediaStore, measure: Measure): MediaStore {
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
      return report;
    },
  };
}
