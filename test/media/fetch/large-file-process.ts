/**
 * A process that fetches, stores and serves files like the bot and reports its memory. The parent sends `{ urls }` and gets
 * `{ links }`; `measure` begins a measurement and `report` ends it. Memory is measured after a garbage collection, so it
 * does not depend on the machine.
 */
import { once } from 'node:events';
import { fileRoutes } from '../../../src/http/files.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { createMediaFetcher } from '../../../src/media/fetch/fetcher.ts';
import { createMedia } from '../../../src/media/media.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import { createS3Store } from '../../../src/media/store/s3.ts';

const [directory = '', bucketPort] = process.argv.slice(2);
const time = { now: () => Date.now(), random: () => 0.5, sleep: async () => undefined };
const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
// Only the test's addresses are requested.
const anything = Object.assign(new Set<string>(), { has: () => true });
const media = createMedia({
  store: bucketPort === undefined ? createFolderStore({ directory, ...time }) : bucketAt(bucketPort),
  fetcher: createMediaFetcher({
    allowedHosts: { gateway: anything, platform: anything },
    maximumBytes: 1 << 30,
    timeoutMs: { gateway: 600_000, platform: 600_000, person: 600_000 },
    idleTimeoutMs: 120_000,
    maximumRedirects: 0,
    concurrency: 10,
    ...time,
  }),
  publicUrl: 'http://bot.example',
  secrets: ['secret'],
  log: { warn: () => undefined },
  linkTtlSeconds: 600,
  ...time,
});
const routes = fileRoutes({ media, log, isPageOpen: async () => true, now: time.now });
const server = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes: [routes] });

function bucketAt(port: string) {
  return createS3Store({
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'media',
    prefix: '',
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    stagingDirectory: directory,
    ...time,
  });
}

const mebibyte = 1024 * 1024;
let before = 0;
let highest = 0;

/** Bytes of objects and of buffers, garbage included. */
function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function inUse(): number {
  globalThis.gc?.();
  return allocated();
}

setInterval(() => {
  // A collection is slow, so it runs only if the memory may have grown.
  if (allocated() > highest + 8 * mebibyte) highest = Math.max(highest, inUse());
}, 20).unref();

process.on('message', async (message: { urls: string[] } | 'measure' | 'report') => {
  if (message === 'measure') {
    before = inUse();
    highest = before;
    process.send?.('measuring');
  } else if (message === 'report') {
    process.send?.({ addedBytes: highest - before });
  } else {
    const stored = await Promise.all(
      message.urls.map((url) => media.keep(url, { from: 'gateway', kinds: ['audio'] })),
    );
    const links = stored.map(({ name }) => media.link(name, { downloadName: 'song.mp3' }));
    process.send?.({ links: links.map((link) => link.replace('http://bot.example', server.url)) });
  }
});
process.send?.('ready');
await once(process, 'disconnect');
await server.close();
await media.close();
