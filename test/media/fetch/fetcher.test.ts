import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { stopTimers } from '../../gateway/support.ts';
import { bytesOf, fetcherFor, listen, uniqueMp3 } from '../helpers.ts';
import { audio, read } from './hostile.ts';

const song = uniqueMp3(400_000);

/** Serves the song with ranges, and cuts the connection after a number of bytes of each response but the last. */
function breaksOff(breaks: number[], headers: Record<string, string>) {
  const ranges: (string | undefined)[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    ranges.push(request.headers.range);
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': song.length - from,
      ...(from > 0 ? { 'content-range': `bytes ${from}-${song.length - 1}/${song.length}` } : {}),
      ...headers,
    });
    const after = breaks.shift();
    if (after === undefined) response.end(song.subarray(from));
    else response.write(song.subarray(from, from + after), () => setTimeout(() => response.destroy(), 20));
  };
  return { answer, ranges };
}

test('a fetch leaves no listeners on long-lived signals', async () => {
  const { origin } = await listen((_request, response) => response.end(song));
  const thread = new Worker(new URL('./signals-thread.ts', import.meta.url), { workerData: origin });
  // A thread that fails rejects here.
  const [{ listeners, added }] = await once(thread, 'message');
  expect(listeners).toBe(0);
  expect(added).toBeLessThan(10);
});

describe('a connection that breaks', () => {
  test('is resumed where it broke, any number of times', async () => {
    const { answer, ranges } = breaksOff([150_000, 100_000], { etag: '"v1"' });
    const { origin } = await listen(answer);
    expect((await read(fetcherFor(), origin)).equals(song)).toBe(true);
    expect(ranges).toHaveLength(3);
    expect(ranges[0]).toBeUndefined();
  });

  test.each<[string, Record<string, string>]>([
    ['has no entity tag', {}],
    ['has a weak entity tag', { etag: 'W/"v1"' }],
    ['supports no ranges', { etag: '"v1"', 'accept-ranges': 'none' }],
  ])('fails if the file %s, because the rest may be from another file', async (_case, headers) => {
    const { answer, ranges } = breaksOff([150_000], headers);
    const { origin } = await listen(answer);
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network', retryable: true });
    expect(ranges).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, number]>([
    ['the whole file again', {}, 200],
    ['another part', { 'content-range': `bytes 5-${song.length - 1}/${song.length}` }, 206],
    ['a part of another length', { 'content-range': 'bytes 150000-9/10' }, 206],
    ['nothing', {}, 416],
  ])('fails if the response is %s', async (_case, headers, status) => {
    const { origin } = await listen((request, response) => {
      if (request.headers.range !== undefined) {
        response.writeHead(status, headers).end(song);
        return;
      }
      response.writeHead(200, { 'content-length': song.length, etag: '"v1"' });
      response.write(song.subarray(0, 150_000), () => setTimeout(() => response.destroy(), 20));
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'network' });
  });
});

describe('many fetches at once', () => {
  test('wait their turn', async () => {
    let open = 0;
    let most = 0;
    const { origin } = await listen((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => {
        open -= 1;
      });
      response.write(song);
      setTimeout(() => response.end(), 20);
    });
    const fetcher = fetcherFor({ concurrency: 2 });
    const fetches = Array.from({ length: 8 }, async () => (await read(fetcher, origin)).length);
    expect(await Promise.all(fetches)).toEqual(Array.from({ length: 8 }, () => song.length));
    expect(most).toBe(2);
  });

  test('do not wait for the first connection to a server over TLS', async () => {
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    // A server that listens on TCP has an AddressInfo.
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetcher = fetcherFor({ allowedHosts: [host] });
    const fetches = Array.from({ length: 3 }, () => read(fetcher, `https://${host}`));
    const ended = Promise.allSettled(fetches);
    await expect.poll(() => connections).toBe(3);
    await fetcher.close();
    await ended;
  });

  test('wait only for the same source: slow servers of typed addresses delay no results', async () => {
    const { origin } = await listen((_request, response) => response.end(song));
    const requested = Promise.withResolvers<void>();
    const lookup = () => {
      requested.resolve();
      return new Promise<never>(() => undefined);
    };
    const fetcher = fetcherFor({ concurrency: 1, lookup });
    const slow = read(fetcher, 'http://slow.example', { ...audio, from: 'person' });
    slow.catch(() => undefined);
    await requested.promise;
    for (const from of ['gateway', 'platform'] as const) {
      expect((await read(fetcher, origin, { ...audio, from })).length).toBe(song.length);
    }
  });

  test('a typed address has a separate timeout, which also ends a pending connection', async () => {
    const requested = Promise.withResolvers<void>();
    const lookup = () => {
      requested.resolve();
      return new Promise<never>(() => undefined);
    };
    const fetcher = fetcherFor({ personTimeoutMs: 60_000, lookup });
    stopTimers();
    const fetched = read(fetcher, 'http://slow.example', { ...audio, from: 'person' });
    await requested.promise;
    vi.advanceTimersByTime(60_000);
    await expect(fetched).rejects.toMatchObject({ code: 'timeout' });
  });

  test('a file that is refused or not read frees its slot', async () => {
    const { origin } = await listen((request, response) => {
      if (request.url === '/page') response.end('<!doctype html>');
      else if (request.url === '/unread') response.write(song);
      else response.end(song);
    });
    const fetcher = fetcherFor({ concurrency: 1 });
    await expect(read(fetcher, `${origin}/page`)).rejects.toMatchObject({ code: 'type' });
    await fetcher.fetch(`${origin}/unread`, audio, async () => undefined);
    expect((await read(fetcher, origin)).length).toBe(song.length);
  });
});

describe('an abort', () => {
  test('stops a running fetch and a waiting one, with its reason', async () => {
    const { origin } = await listen((_request, response) => response.write(song));
    const fetcher = fetcherFor({ concurrency: 1 });
    const reason = new Error('the job was cancelled');
    const caller = new AbortController();
    const begun = Promise.withResolvers<void>();
    const reading = fetcher.fetch(origin, audio, ({ stream }) => {
      begun.resolve();
      return bytesOf(stream);
    });
    reading.catch(() => undefined);
    await begun.promise;
    const waiting = read(fetcher, origin, { ...audio, signal: caller.signal });
    caller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(read(fetcher, origin, { ...audio, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await fetcher.close();
    await expect(reading).rejects.toMatchObject({ code: 'network', retryable: true });
  });

  test('closes the connection if the reader stops in the middle', async () => {
    const closed = vi.fn();
    const { origin } = await listen((_request, response) => {
      response.once('close', closed);
      response.write(song);
    });
    await fetcherFor().fetch(origin, audio, async ({ stream }) => {
      for await (const chunk of stream) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
    });
    await expect.poll(() => closed).toHaveBeenCalled();
  });
});

test('the type of a file is known before it is read', async () => {
  const { origin } = await listen((_request, response) => response.end(song));
  const known = await fetcherFor().fetch(origin, audio, async ({ stream: _, ...type }) => type);
  expect(known).toEqual({ kind: 'audio', contentType: 'audio/mpeg', extension: 'mp3' });
});
