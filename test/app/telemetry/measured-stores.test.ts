import { expect, it } from 'vitest';
import { measuredStore } from '../../../src/app/telemetry/measured-stores.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import { temporaryFolder } from '../../media/helpers.ts';

async function* bytes(text: string) {
  yield Buffer.from(text);
}

it('reports the stored bytes and their quota after pruning', async () => {
  const metrics = createMetrics();
  const quotaBytes = 8;
  let time = 0;
  const folder = createFolderStore({ directory: await temporaryFolder(), quotaBytes, now: () => time });
  const store = measuredStore(folder, quotaBytes, metrics.measure);
  for (const text of ['first', 'second']) {
    time += 60_000;
    await store.put(bytes(text), { extension: 'txt' });
  }
  await store.prune();
  const shown = await metrics.render();
  for (const line of [
    'minstrel_media_quota_bytes 8',
    'minstrel_media_bytes 6',
    'minstrel_media_pruned_bytes_total 5',
    'minstrel_media_kept_bytes_total{extension="txt"} 11',
  ])
    expect(shown).toContain(line);
});
