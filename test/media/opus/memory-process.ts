/** A process that encodes a stored song for a voice channel and reports its peak memory growth. */
import { createMediaFetcher } from '../../../src/media/fetch/fetcher.ts';
import { createMedia } from '../../../src/media/media.ts';
import { createOpusEncoder } from '../../../src/media/opus/encoder.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';

const [directory = '', name = ''] = process.argv.slice(2);
const time = { now: () => Date.now(), random: () => 0.5, sleep: async () => undefined };
const media = createMedia({
  store: createFolderStore({ directory, ...time }),
  fetcher: createMediaFetcher({
    allowedHosts: { gateway: new Set(), platform: new Set() },
    maximumBytes: 0,
    timeoutMs: { gateway: 0, platform: 0, person: 0 },
    idleTimeoutMs: 1,
    maximumRedirects: 0,
    concurrency: 1,
    ...time,
  }),
  publicUrl: 'http://bot.example',
  secrets: ['secret'],
  log: { warn: () => undefined },
  linkTtlSeconds: 600,
  ...time,
});

const before = process.resourceUsage().maxRSS;
const opus = await createOpusEncoder(media).encode({ name }, 'ada');
process.send?.({ opus, addedBytes: (process.resourceUsage().maxRSS - before) * 1024 });
await media.close();
