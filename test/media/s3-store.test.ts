import { readdir, utimes } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createS3Store, type S3StoreOptions } from '../../src/media/s3-store.ts';
import { mediaStoreContract } from '../contracts/media-store.ts';
import { startBucket } from './bucket.ts';
import { bytesOf, chunks, listen, temporaryFolder } from './helpers.ts';

const bucket = 'media';
const prefix = 'kept/';

async function storeAt(port: number, options: Partial<S3StoreOptions> = {}) {
  const store = createS3Store({
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    prefix,
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    spoolDirectory: await temporaryFolder(),
    now: () => Date.UTC(2031, 4, 5),
    retryDelayMs: 1,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

mediaStoreContract('the bucket', async (options) => {
  const directory = await temporaryFolder();
  const suffix = '._S3rver_object';
  const objects = join(directory, bucket, prefix);
  return {
    store: await storeAt(await startBucket(bucket, { directory }), options),
    everything: async () => {
      const files = await readdir(objects).catch(() => []);
      return files.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length));
    },
    setKeptAt: (name, time) => utimes(join(objects, `${name}${suffix}`), time / 1000, time / 1000),
  };
});

describe('the bucket', () => {
  test('that cannot be reached is named as such, and used again when it can', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const store = await storeAt(port);

    const refused = store.put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'store', retryable: true });
    await expect(store.stat(`${'0'.repeat(64)}.mp3`)).rejects.toMatchObject({ code: 'store' });

    await startBucket(bucket, { port });
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
  });

  test('that does not exist, or does not know the key, is no missing file', async () => {
    const port = await startBucket(bucket);
    const elsewhere = await storeAt(port, { bucket: 'nowhere' });
    await expect(elsewhere.put(chunks('x'), { extension: 'txt' })).rejects.toMatchObject({ code: 'store' });
    await expect(elsewhere.prune()).rejects.toMatchObject({ code: 'store' });
    const stranger = await storeAt(port, { accessKeyId: 'someone', secretAccessKey: 'else' });
    await expect(stranger.put(chunks('x'), { extension: 'txt' })).rejects.toMatchObject({
      code: 'store',
      status: 403,
    });
  });

  test('leaves no temporary file behind', async () => {
    const spoolDirectory = await temporaryFolder();
    const store = await storeAt(await startBucket(bucket), { spoolDirectory });
    await store.put(chunks('a song'), { extension: 'txt' });
    expect(await readdir(spoolDirectory)).toEqual([]);
  });

  test('that stumbles is asked again with the whole file', async () => {
    const received: string[] = [];
    const { port } = await listen(async (request, response) => {
      received.push(String(await bytesOf(request)));
      response.writeHead(received.length === 1 ? 503 : 200).end();
    });
    const store = await storeAt(port);
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
    expect(received).toEqual(['a song', 'a song']);
  });

  test('that never answers, or stops in the middle of a file, is named as such', async () => {
    const { port } = await listen((request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-length': 100 }).write('half a song');
    });
    const store = await storeAt(port, { idleTimeoutMs: 100 });
    const name = `${'0'.repeat(64)}.txt`;
    await expect(store.stat(name)).rejects.toMatchObject({ code: 'store', retryable: true });
    const opened = await store.open(name);
    await expect(bytesOf(opened?.stream ?? [])).rejects.toMatchObject({ code: 'store' });
  });

  test('that knows no ranges never passes the whole file off as a part', async () => {
    const { port } = await listen((_request, response) => response.end('the whole song'));
    const store = await storeAt(port);
    const name = `${'0'.repeat(64)}.txt`;
    await expect(store.open(name, { start: 4 })).rejects.toMatchObject({ code: 'store', retryable: false });
    const whole = await store.open(name, { start: 0 });
    expect(String(await bytesOf(whole?.stream ?? []))).toBe('the whole song');
  });

  test('that is full is named as such', async () => {
    const { port } = await listen(async (request, response) => {
      await bytesOf(request);
      response.writeHead(507).end();
    });
    const refused = (await storeAt(port)).put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'disk-full', retryable: true });
  });
});
