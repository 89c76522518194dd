import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Lookup } from '../../src/media/dispatcher.ts';
import type { FetchExpectation, MediaFetcher } from '../../src/media/fetch.ts';
import { bytesOf, fetcherFor, listen, mp3 } from './helpers.ts';

const song = mp3(200);
const audio = { kinds: ['audio'] } as const;

/** Fetches and reads to the end, as keeping does. */
async function read(
  fetcher: MediaFetcher,
  url: string,
  expectation: FetchExpectation = audio,
): Promise<Buffer> {
  const fetched = await fetcher.fetch(url, expectation);
  return bytesOf(fetched.stream());
}

/** A server that must never be reached. */
async function forbidden() {
  const answer = vi.fn<RequestListener>((_request, response) => response.end(song));
  const listener = await listen(answer);
  return { ...listener, answer };
}

/** Writes raw bytes whatever was asked, for answers that no HTTP library would send. */
async function listenRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an address inside is refused before anything is sent', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.01'],
    ['hex', '0x7f000001'],
    ['short', '127.1'],
    ['percent-encoded', '127.0.0.%31'],
    ['full-width digits', '１２７.０.０.１'],
    ['circled digits', '①②⑦.⓪.⓪.①'],
    ['a dot at the end', '127.0.0.1.'],
    ['IPv6 loopback', '[::1]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped in hex', '[::ffff:7f00:1]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['unspecified', '0.0.0.0'],
    ['unspecified in IPv6', '[::]'],
    ['cloud metadata', '169.254.169.254'],
    ['cloud metadata in IPv6', '[fd00:ec2::254]'],
    ['private', '192.168.0.1'],
  ])('%s: %s', async (_disguise, host) => {
    const { port, answer } = await forbidden();
    const fetcher = fetcherFor({ allowedHosts: [] });
    await expect(read(fetcher, `http://${host}:${port}/song.mp3`)).rejects.toMatchObject({
      code: 'address',
      retryable: false,
    });
    expect(answer).not.toHaveBeenCalled();
  });

  test.each<[string, string[]]>([
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['a private address among public ones', ['93.184.216.34', '10.0.0.1']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['nothing', []],
    ['something that is no address', ['localhost']],
  ])('a name that resolves to %s', async (_disguise, addresses) => {
    const { port, answer } = await forbidden();
    const lookup: Lookup = async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const fetcher = fetcherFor({ allowedHosts: ['elsewhere.example'], lookup });
    await expect(read(fetcher, `http://media.example:${port}/`)).rejects.toMatchObject({ code: 'address' });
    expect(answer).not.toHaveBeenCalled();
  });

  test.each(['127.0.0.1', 'localhost', '[::1]'])('over TLS too: %s', async (host) => {
    const { port, answer } = await forbidden();
    await expect(read(fetcherFor({ allowedHosts: [] }), `https://${host}:${port}/`)).rejects.toMatchObject({
      code: 'address',
    });
    expect(answer).not.toHaveBeenCalled();
  });

  test('a name of this machine', async () => {
    const { port, answer } = await forbidden();
    await expect(read(fetcherFor({ allowedHosts: [] }), `http://localhost:${port}/`)).rejects.toMatchObject({
      code: 'address',
    });
    expect(answer).not.toHaveBeenCalled();
  });

  test('DNS that changes after the check: the checked address is the one connected to', async () => {
    const { port, answer } = await forbidden();
    // The first answer passes the check and has nobody listening; the second is never asked for.
    const answers = ['127.0.0.2', '127.0.0.1'];
    const lookup = vi.fn<Lookup>(async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]);
    const fetcher = fetcherFor({ allowedHosts: ['rebinding.example'], lookup });
    await expect(read(fetcher, `http://rebinding.example:${port}/`)).rejects.toMatchObject({
      code: 'network',
    });
    expect(lookup).toHaveBeenCalledTimes(1);
    expect(answer).not.toHaveBeenCalled();
  });

  test('DNS that changes between two requests: every connection is checked anew', async () => {
    const { port, answer } = await forbidden();
    const answers = ['192.0.2.1', '127.0.0.1'];
    const lookup = vi.fn<Lookup>(async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]);
    const fetcher = fetcherFor({ allowedHosts: [], lookup });
    for (let request = 0; request < 2; request += 1) {
      await expect(read(fetcher, `http://rebinding.example:${port}/`)).rejects.toMatchObject({
        code: 'address',
      });
    }
    expect(lookup).toHaveBeenCalledTimes(2);
    expect(answer).not.toHaveBeenCalled();
  });

  test('a name is resolved once for a connection, and that address is used', async () => {
    const { port } = await listen((_request, response) => response.end(song));
    const lookup = vi.fn<Lookup>(async () => [{ address: '127.0.0.1', family: 4 }]);
    const fetcher = fetcherFor({ allowedHosts: ['media.example'], lookup });
    expect((await read(fetcher, `http://media.example:${port}/`)).equals(song)).toBe(true);
    expect(lookup.mock.calls).toEqual([['media.example']]);
  });
});

describe('an address is refused that', () => {
  test.each([
    ['is no address', 'not an address', 'protocol'],
    ['is empty', '', 'protocol'],
    ['is a file', 'file:///etc/passwd', 'protocol'],
    ['is data', 'data:audio/mpeg;base64,AAAA', 'protocol'],
    ['is ftp', 'ftp://127.0.0.1/song.mp3', 'protocol'],
    ['is gopher', 'gopher://127.0.0.1:6379/_FLUSHALL', 'protocol'],
    ['carries a user name', 'http://media.example@127.0.0.1/', 'address'],
    ['carries a password', 'http://:secret@127.0.0.1/', 'address'],
  ])('%s', async (_case, url, code) => {
    const refused = read(fetcherFor(), url);
    await expect(refused).rejects.toMatchObject({ code, retryable: false });
    await expect(refused).rejects.not.toThrow(/secret/);
  });
});

describe('allowed hosts', () => {
  test('are allowed by name, or by name and port, and no further', async () => {
    const { origin, port } = await listen((_request, response) => response.end(song));
    const other = await forbidden();
    const fetcher = fetcherFor({ allowedHosts: [`127.0.0.1:${port}`] });
    expect((await read(fetcher, origin)).length).toBe(song.length);
    await expect(read(fetcher, other.origin)).rejects.toMatchObject({ code: 'address' });
  });
});

describe('a redirect', () => {
  test('to an address inside is refused as if it had been asked for', async () => {
    const { port, answer } = await forbidden();
    const { port: outside } = await listen((_request, response) =>
      response.writeHead(302, { location: `http://localhost:${port}/` }).end(),
    );
    const fetcher = fetcherFor({ allowedHosts: [`127.0.0.1:${outside}`] });
    await expect(read(fetcher, `http://127.0.0.1:${outside}/`)).rejects.toMatchObject({ code: 'address' });
    expect(answer).not.toHaveBeenCalled();
  });

  test.each([
    ['file:///etc/passwd', 'protocol'],
    ['gopher://127.0.0.1/', 'protocol'],
    ['http://user@127.0.0.1/', 'address'],
    ['http://[::1]/', 'address'],
    ['//169.254.169.254/latest', 'address'],
    ['http://', 'protocol'],
  ])('to %s is refused', async (location, code) => {
    const { origin } = await listen((_request, response) => response.writeHead(301, { location }).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code });
  });

  test('that leads nowhere is refused', async () => {
    const { origin } = await listen((_request, response) => response.writeHead(302).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'redirects' });
  });

  test('is followed as often as allowed, and a chain without end is not', async () => {
    let asked = 0;
    const { origin } = await listen((request, response) => {
      asked += 1;
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end(song);
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const fetcher = fetcherFor({ maximumRedirects: 3 });
    expect((await read(fetcher, `${origin}/3`)).length).toBe(song.length);
    asked = 0;
    await expect(read(fetcher, `${origin}/1000000`)).rejects.toMatchObject({ code: 'redirects' });
    expect(asked).toBe(4);
  });

  test('takes credentials along to the same origin only', async () => {
    const seen: unknown[] = [];
    const other = await listen((request, response) => {
      seen.push(['other', request.headers.authorization]);
      response.end(song);
    });
    const { origin } = await listen((request, response) => {
      seen.push([request.url, request.headers.authorization]);
      const location = request.url === '/' ? '/again' : other.origin;
      response.writeHead(302, { location }).end();
    });
    await read(fetcherFor(), origin, { ...audio, headers: { authorization: 'Bearer secret' } });
    expect(seen).toEqual([
      ['/', 'Bearer secret'],
      ['/again', 'Bearer secret'],
      ['other', undefined],
    ]);
  });
});

describe('a body is refused that', () => {
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

  test('is larger than this one file may be', async () => {
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

  test('comes byte by byte, for ever', async () => {
    const { origin } = await listen((_request, response) => {
      response.write(song);
      const timer = setInterval(() => response.write('.'), 10);
      response.once('close', () => clearInterval(timer));
    });
    const fetcher = fetcherFor({ idleTimeoutMs: 500, timeoutMs: 300 });
    await expect(read(fetcher, origin)).rejects.toMatchObject({ code: 'timeout', retryable: true });
  });

  test('has headers that come byte by byte, for ever', async () => {
    const origin = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 10);
      socket.once('close', () => clearInterval(timer));
    });
    const fetcher = fetcherFor({ idleTimeoutMs: 100_000, timeoutMs: 300 });
    await expect(read(fetcher, origin)).rejects.toMatchObject({ code: 'timeout' });
  });

  test('has headers without end', async () => {
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

  test('is longer than declared: what was not declared is not taken', async () => {
    const origin = await listenRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${song.length}\r\n\r\n`);
      socket.end(Buffer.concat([song, Buffer.alloc(100_000)]));
    });
    const outcome = await read(fetcherFor(), origin).catch((error: unknown) => error);
    if (Buffer.isBuffer(outcome)) expect(outcome.equals(song)).toBe(true);
    else expect(outcome).toMatchObject({ code: 'network' });
  });

  test('is compressed, since a few bytes of it could become many', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const asked: unknown[] = [];
    const { origin } = await listen((request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'audio/mpeg' }).end(bomb);
    });
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'protocol', retryable: false });
    expect(asked).toEqual(['identity']);
  });

  test.each<[string, Buffer | string]>([
    ['is a page', '<!doctype html><title>Not a song</title>'],
    ['is a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(500)])],
    ['is a picture with a script', '<?xml version="1.0"?><svg onload="alert(1)"/>'],
    ['is nothing', ''],
    ['is random', Buffer.concat([Buffer.from([7, 7, 7, 7]), randomBytes(50_000)])],
  ])('%s although it says it is a song', async (_case, body) => {
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

describe('an answer is no file that', () => {
  test.each([
    [204, false],
    [206, false],
    [304, false],
    [401, false],
    [403, false],
    [404, true],
    [410, false],
    [429, true],
    [500, true],
    [503, true],
  ])('has status %i (worth another try: %s)', async (status, retryable) => {
    const { origin } = await listen((_request, response) => response.writeHead(status).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'status', status, retryable });
  });

  test('says when to come back, in seconds or as a date', async () => {
    const now = Date.UTC(2031, 0, 1);
    const { origin } = await listen((request, response) => {
      const after = request.url === '/date' ? new Date(now + 5000).toUTCString() : '7';
      response.writeHead(503, { 'retry-after': after }).end();
    });
    const fetcher = fetcherFor({ now: () => now });
    await expect(read(fetcher, `${origin}/`)).rejects.toMatchObject({ retryAfterMs: 7000 });
    await expect(read(fetcher, `${origin}/date`)).rejects.toMatchObject({ retryAfterMs: 5000 });
  });
});

test('a server that is not there is a network failure, and a name that does not resolve too', async () => {
  const lookup: Lookup = async (hostname) => {
    throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND', hostname });
  };
  const fetcher = fetcherFor({ lookup });
  await expect(read(fetcher, 'http://127.0.0.1:1/')).rejects.toMatchObject({
    code: 'network',
    retryable: true,
  });
  await expect(read(fetcher, 'http://nowhere.example/')).rejects.toMatchObject({ code: 'network' });
});
