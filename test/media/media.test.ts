import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createMedia } from '../../src/media/media.ts';
import { createFolderStore } from '../../src/media/store/folder.ts';
import { bytesOf, fetcherFor, listen, mp3, temporaryFolder } from './helpers.ts';

async function mediaIn(directory: string) {
  return createMedia({
    store: createFolderStore({ directory, now: () => Date.now() }),
    fetcher: fetcherFor(),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    linkTtlSeconds: 3600,
    now: () => Date.now(),
    log: { warn: () => undefined },
  });
}

test('a song is fetched, detected by its content and stored under its hash', async () => {
  const song = mp3(500);
  const { origin } = await listen((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(song);
  });
  const media = await mediaIn(await temporaryFolder());

  const stored = await media.keep(`${origin}/song.exe`, { from: 'gateway', kinds: ['audio'] });

  expect(stored).toMatchObject({ contentType: 'audio/mpeg', bytes: song.length });
  expect(stored.name).toMatch(/^[0-9a-f]{64}\.mp3$/);
  const opened = await media.open(stored.name);
  expect(opened && (await bytesOf(opened.stream)).equals(song)).toBe(true);
});

test('an overloaded server is retried', async () => {
  let requestCount = 0;
  const { origin } = await listen((_request, response) => {
    requestCount += 1;
    if (requestCount === 1) response.writeHead(503).end();
    else response.end(mp3(100));
  });
  const media = await mediaIn(await temporaryFolder());

  expect(await media.keep(origin, { from: 'gateway', kinds: ['audio'] })).toMatchObject({
    contentType: 'audio/mpeg',
  });
  expect(requestCount).toBe(2);
});

test('a server that stays down is an error and leaves no file', async () => {
  const { origin } = await listen((_request, response) => response.writeHead(500).end());
  const folder = await temporaryFolder();
  const media = await mediaIn(folder);

  await expect(media.keep(origin, { from: 'gateway', kinds: ['audio'] })).rejects.toMatchObject({
    code: 'status',
    status: 500,
    retryable: true,
  });
  expect(await readdir(folder)).toEqual([]);
});

test('a long retry delay is left to the caller', async () => {
  let requestCount = 0;
  const { origin } = await listen((_request, response) => {
    requestCount += 1;
    response.writeHead(429, { 'retry-after': '120' }).end();
  });
  const media = await mediaIn(await temporaryFolder());

  await expect(media.keep(origin, { from: 'gateway', kinds: ['audio'] })).rejects.toMatchObject({
    retryable: true,
    retryAfterMs: 120_000,
  });
  expect(requestCount).toBe(1);
});

test('bytes from an answer are checked and stored', async () => {
  const media = await mediaIn(await temporaryFolder());

  const stored = await media.keepBytes(Buffer.from('[00:01.00] Rain'), { kinds: ['text'] });
  expect(stored).toMatchObject({ contentType: 'text/plain; charset=utf-8' });

  await expect(media.keepBytes(Buffer.from('MZ\0\0'), { kinds: ['image'] })).rejects.toMatchObject({
    code: 'type',
  });
  await expect(media.keepBytes(mp3(10), { kinds: ['audio'], maximumBytes: 100 })).rejects.toMatchObject({
    code: 'too-large',
  });
});
