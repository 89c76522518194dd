/**
 * A process that fetches, keeps and serves as the bot does, and tells how much memory that took. The parent
 * sends `{ urls }` and gets `{ links }`; between `measure` and `report` lies what is measured: resident memory at
 * its highest, less what it was before.
 */
import { once } from 'node:events';
import { fileRoutes } from '../../src/http/files.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { createMediaFetcher } from '../../src/media/fetch.ts';
import { createFolderStore } from '../../src/media/folder-store.ts';
import { createMedia } from '../../src/media/media.ts';
import { createS3Store } from '../../src/media/s3-store.ts';

const [directory = '', bucketPort] = process.argv.slice(2);
const now = () => Date.now();
const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const media = createMedia({
  store: bucketPort === undefined ? createFolderStore({ directory, now }) : bucketAt(bucketPort),
  fetcher: createMediaFetcher({
    allowedHosts: ['127.0.0.1'],
    maximumBytes: 1 << 30,
    timeoutMs: 60_000,
    idleTimeoutMs: 10_000,
    maximumRedirects: 0,
    concurrency: 10,
    now,
  }),
  publicUrl: 'http://bot.example',
  secrets: ['secret'],
  linkTtlSeconds: 600,
  now,
});
const routes = fileRoutes({ media, log, now });
const server = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes: [routes] });

function bucketAt(port: string) {
  return createS3Store({
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'media',
    prefix: '',
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    spoolDirectory: directory,
    now,
  });
}

let before = 0;
let highest = 0;
setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss());
}, 5).unref();

process.on('message', async (message: { urls: string[] } | 'measure' | 'report') => {
  if (message === 'measure') {
    globalThis.gc?.();
    before = process.memoryUsage.rss();
    highest = before;
    process.send?.('measuring');
  } else if (message === 'report') {
    process.send?.({ addedBytes: highest - before });
  } else {
    const kept = await Promise.all(message.urls.map((url) => media.keep(url, { kinds: ['audio'] })));
    const links = kept.map(({ name }) => media.link(name, { downloadName: 'song.mp3' }));
    process.send?.({ links: links.map((link) => link.replace('http://bot.example', server.url)) });
  }
});
process.send?.('ready');
await once(process, 'disconnect');
await server.close();
await media.close();
