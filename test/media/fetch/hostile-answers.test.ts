import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fetcherFor, listen } from '../helpers.ts';
import { audio, listenRaw, read, song } from './hostile.ts';

describe('refuses a body that', () => {
  test('is declared too large, without reading it', async () => {
    const { origin } = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': 50_000_000 });
      response.write(song);
    });
    await expect(read(fetcherFor({ maximumBytes: 1000 }), origin)).rejects.toMatchObject({
      code: 'too-large',
      retryable: false,
    });
  });

  test('has no end', async () => {
    let sent = 0;
    const { origin } = await listen((_request, response) => {
      response.write(song);
      const more = () => {
        while (!response.destroyed && response.write(randomBytes(16_384))) sent += 16_384;
      };
      response.on('drain', more);
      more();
    });
    await expect(read(fetcherFor({ maximumBytes: 300_000 }), origin)).rejects.toMatchObject({
      code: 'too-large',
    });
    expect(sent).toBeLessThan(20_000_000);
  });

  test('is larger than the limit of this file', async () => {
    const { origin } = await listen((_request, response) => response.end(song));
    const fetcher = fetcherFor();
    await expect(read(fetcher, origin, { ...audio, maximumBytes: 1000 })).rejects.toMatchObject({
      code: 'too-large',
    });
    await expect(read(fetcher, origin, { ...audio, maximumBytes: 1e12 })).resolves.toHaveLength(song.length);
  });

  test('never begins', async () => {
    const { origin } = await listen(() => undefined);
    await expect(read(fetcherFor({ idleTimeoutMs: 100 }), origin)).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  test('stops in the middle', async () => {
    const { origin } = await listen((_request, response) => response.write(song));
    await expect(read(fetcherFor({ idleTimeoutMs: 100 }), origin)).rejects.toMatchObject({ code: 'timeout' });
  });

  test('arrives byte by byte, endlessly', async () => {
    const { origin } = await listen((_request, response) => {
      response.write(song);
      const timer = setInterval(() => response.write('.'), 10);
      response.once('close', () => clearInterval(timer));
    });
    const fetcher = fetcherFor({ idleTimeoutMs: 500, timeoutMs: 300 });
    await expect(read(fetcher, origin)).rejects.toMatchObject({ code: 'timeout', retryable: true });
  });

  test('has headers that arrive byte by byte, endlessly', async () => {
    const origin = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 10);
      socket.once('close', () => clearInterval(timer));
    });
    const fetcher = fetcherFor({ idleTimeoutMs: 100_000, timeoutMs: 300 });
    await expect(read(fetcher, origin)).rejects.toMatchObject({ code: 'timeout' });
  });

  test('has endless headers', async () => {
    const origin = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`x: ${'y'.repeat(4000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network' });
  });

  test('is shorter than declared', async () => {
    const origin = await listenRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${song.length + 1000}\r\n\r\n`);
      socket.end(song);
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network', retryable: true });
  });

  test('is cut off between its chunks', async () => {
    const origin = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write(`${song.length.toString(16)}\r\n`);
      socket.write(song);
      socket.end('\r\n');
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network' });
  });

  test('declares two lengths', async () => {
    const origin = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-length: 83400\r\n\r\n');
      socket.end(song);
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network' });
  });

  test('is longer than declared, or ignores the rest', async () => {
    const origin = await listenRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${song.length}\r\n\r\n`);
      socket.end(Buffer.concat([song, Buffer.alloc(100_000)]));
    });
    const outcome = await read(fetcherFor(), origin).catch((error: unknown) => error);
    if (Buffer.isBuffer(outcome)) expect(outcome.equals(song)).toBe(true);
    else expect(outcome).toMatchObject({ code: 'network' });
  });

  test('is compressed, because a few bytes may unpack to many', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const encodings: unknown[] = [];
    const { origin } = await listen((request, response) => {
      encodings.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'audio/mpeg' }).end(bomb);
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'protocol', retryable: false });
    expect(encodings).toEqual(['identity']);
  });

  test.each<[string, Buffer | string]>([
    ['is a page', '<!doctype html><title>Not a song</title>'],
    ['is a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(500)])],
    ['is an image with a script', '<?xml version="1.0"?><svg onload="alert(1)"/>'],
    ['is empty', ''],
    ['is random', Buffer.concat([Buffer.from([7, 7, 7, 7]), randomBytes(50_000)])],
  ])('%s although its header says it is a song', async (_case, body) => {
    const { origin } = await listen((_request, response) =>
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(body),
    );
    await expect(read(fetcherFor(), `${origin}/song.mp3`)).rejects.toMatchObject({
      code: 'type',
      retryable: false,
    });
  });

  test('is not HTTP', async () => {
    const origin = await listenRaw((socket) => socket.end('+PONG\r\n'));
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network' });
  });
});

describe('refuses a response that', () => {
  test.each([
    [204, false],
    [206, false],
    [304, false],
    [401, false],
    [404, true],
    [503, true],
  ])('has status %i (retryable: %s)', async (status, retryable) => {
    const { origin } = await listen((_request, response) => response.writeHead(status).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'status', status, retryable });
  });

  test('has a retry delay, in seconds or as a date', async () => {
    const now = Date.UTC(2031, 0, 1);
    const { origin } = await listen((request, response) => {
      const after = request.url === '/date' ? new Date(now + 60_000).toUTCString() : '7.5';
      response.writeHead(503, { 'retry-after': after }).end();
    });
    const fetcher = fetcherFor({ now: () => now });
    await expect(read(fetcher, `${origin}/`)).rejects.toMatchObject({ retryAfterMs: 7500 });
    await expect(read(fetcher, `${origin}/date`)).rejects.toMatchObject({ retryAfterMs: 60_000 });
  });
});
