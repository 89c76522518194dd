import { utimesSync } from 'node:fs';
import { readdir, readlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createS3Store, type S3StoreOptions } from '../../../src/media/store/s3.ts';
import { mediaStoreContract } from '../../contracts/media-store.ts';
import { freePort } from '../../servers/free-port.ts';
import { bytesOf, chunks, listen, temporaryFolder } from '../helpers.ts';
import { startBucket } from './bucket.ts';

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
    stagingDirectory: await temporaryFolder(),
    now: () => Date.UTC(2031, 4, 5),
    random: () => 0.5,
    sleep: async () => undefined,
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
    setStoredAt: (name, time) => utimes(join(objects, `${name}${suffix}`), time / 1000, time / 1000),
  };
});

describe('the bucket', () => {
  test('that refuses connections leaves no open file', async () => {
    const stagingDirectory = await temporaryFolder();
    const store = await storeAt(1, { stagingDirectory });
    await expect(store.put(chunks('a song'.repeat(200_000)), { extension: 'txt' })).rejects.toMatchObject({
      code: 'store',
    });
    const open = async () => {
      const descriptors = await readdir('/proc/self/fd');
      const paths = await Promise.all(
        descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => '')),
      );
      return paths.filter((path) => path.startsWith(stagingDirectory));
    };
    await expect.poll(open).toEqual([]);
  });

  test('keeps a file that another replica has stored again since the listing', async () => {
    const directory = await temporaryFolder();
    const now = Date.UTC(2031, 4, 5);
    const setStoredAt = (name: string, time: number) =>
      utimesSync(join(directory, bucket, prefix, `${name}._S3rver_object`), time / 1000, time / 1000);
    const names: string[] = [];
    let reads = 0;
    // Read once for the local folder, and then for each file of the list.
    const clock = () => {
      reads += 1;
      if (reads === 2) for (const name of names.slice(1)) setStoredAt(name, now);
      return now;
    };
    const port = await startBucket(bucket, { directory });
    const writer = await storeAt(port);
    for (const content of ['one', 'two', 'three'])
      names.push((await writer.put(chunks(content), { extension: 'txt' })).name);
    for (const name of names) setStoredAt(name, now - 60_000);
    const pruned = await (await storeAt(port, { now: clock, retentionMs: 1000 })).prune();
    expect(pruned).toMatchObject({ removed: 1 });
    const left = await Promise.all(names.map((name) => writer.stat(name)));
    expect(left.map((file) => file !== undefined)).toEqual([false, true, true]);
  });

  test('that cannot be reached is an error, and works again once it can', async () => {
    const port = await freePort();
    const store = await storeAt(port);

    const refused = store.put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'store', retryable: true });
    await expect(store.stat(`${'0'.repeat(64)}.mp3`)).rejects.toMatchObject({ code: 'store' });

    await startBucket(bucket, { port });
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
  });

  test('that does not exist, or rejects the key, is not a missing file', async () => {
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

  test('leaves no temporary file', async () => {
    const stagingDirectory = await temporaryFolder();
    const store = await storeAt(await startBucket(bucket), { stagingDirectory });
    await store.put(chunks('a song'), { extension: 'txt' });
    expect(await readdir(stagingDirectory)).toEqual([]);
  });

  test('that fails temporarily is retried with the whole file', async () => {
    const received: string[] = [];
    const { port } = await listen(async (request, response) => {
      received.push(String(await bytesOf(request)));
      response.writeHead(received.length === 1 ? 503 : 200).end();
    });
    const store = await storeAt(port);
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
    expect(received).toEqual(['a song', 'a song']);
  });

  test('that never responds, or stops in the middle of a file, is an error', async () => {
    let heads = 0;
    const { port } = await listen((request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-length': 100 }).write('half a song');
      // Each timeout takes a second of undici's clock, so there is only one.
      else if (++heads > 1) response.writeHead(503).end();
    });
    const store = await storeAt(port, { idleTimeoutMs: 100 });
    const name = `${'0'.repeat(64)}.txt`;
    const silent = expect(store.stat(name)).rejects.toMatchObject({ code: 'store', retryable: true });
    const opened = await store.open(name);
    await expect(bytesOf(opened?.stream ?? [])).rejects.toMatchObject({ code: 'store' });
    await silent;
    expect(heads).toBe(3);
  });

  test('frees the connection of a destroyed stream, read or not', async () => {
    let closed = 0;
    const { port } = await listen((_request, response) => {
      response.once('close', () => {
        closed += 1;
      });
      response.writeHead(200, { 'content-length': 100_000_000 }).write('the beginning');
    });
    const store = await storeAt(port);
    const name = `${'0'.repeat(64)}.wav`;
    const unread = await store.open(name);
    unread?.stream.destroy();
    await expect.poll(() => closed).toBe(1);
    const waiting = await store.open(name);
    for await (const chunk of waiting?.stream ?? []) {
      expect(String(chunk)).toBe('the beginning');
      break;
    }
    await expect.poll(() => closed).toBe(2);
    // A stream that waits for more bytes.
    const silent = await store.open(name);
    silent?.stream.once('data', () => setImmediate(() => silent.stream.destroy()));
    await expect.poll(() => closed).toBe(3);
  });

  test('without support for ranges never returns the whole file as a part', async () => {
    const { port } = await listen((_request, response) => response.end('the whole song'));
    const store = await storeAt(port);
    const name = `${'0'.repeat(64)}.txt`;
    await expect(store.open(name, { start: 4 })).rejects.toMatchObject({ code: 'store', retryable: false });
    const whole = await store.open(name, { start: 0 });
    expect(String(await bytesOf(whole?.stream ?? []))).toBe('the whole song');
  });

  test('that is full is an error', async () => {
    const { port } = await listen(async (request, response) => {
      await bytesOf(request);
      response.writeHead(507).end();
    });
    const refused = (await storeAt(port)).put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'disk-full', retryable: true });
  });
});
