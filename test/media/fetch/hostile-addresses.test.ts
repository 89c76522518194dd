import { describe, expect, test, vi } from 'vitest';
import type { Lookup } from '../../../src/media/fetch/guard.ts';
import { fetcherFor, listen } from '../helpers.ts';
import { audio, forbidden, read, song } from './hostile.ts';

describe('a private address is refused before anything is sent', () => {
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
    ['an invalid address', ['localhost']],
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

  test('the connection uses the checked address: a name is resolved once for each connection', async () => {
    const { port, answer } = await forbidden();
    // No server listens there, so each of four tries fails.
    const lookup = vi.fn<Lookup>(async () => [{ address: '127.0.0.2', family: 4 }]);
    const fetcher = fetcherFor({ allowedHosts: [`rebinding.example:${port}`], lookup });
    await expect(read(fetcher, `http://rebinding.example:${port}/`)).rejects.toMatchObject({
      code: 'network',
    });
    expect(lookup).toHaveBeenCalledTimes(4);
    expect(answer).not.toHaveBeenCalled();
  });

  test('every connection is checked again, in case DNS changes between two requests', async () => {
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
    const fetcher = fetcherFor({ allowedHosts: [`media.example:${port}`], lookup });
    expect((await read(fetcher, `http://media.example:${port}/`)).equals(song)).toBe(true);
    expect(lookup.mock.calls).toEqual([['media.example']]);
  });
});

describe('refuses an address that', () => {
  test.each([
    ['is invalid', 'not an address', 'protocol'],
    ['is empty', '', 'protocol'],
    ['is a file', 'file:///etc/passwd', 'protocol'],
    ['is data', 'data:audio/mpeg;base64,AAAA', 'protocol'],
    ['is ftp', 'ftp://127.0.0.1/song.mp3', 'protocol'],
    ['is gopher', 'gopher://127.0.0.1:6379/_FLUSHALL', 'protocol'],
    ['contains a user name', 'http://media.example@127.0.0.1/', 'address'],
    ['contains a password', 'http://:secret@127.0.0.1/', 'address'],
  ])('%s', async (_case, url, code) => {
    const refused = read(fetcherFor(), url);
    await expect(refused).rejects.toMatchObject({ code, retryable: false });
    await expect(refused).rejects.not.toThrow(/secret/);
  });
});

describe('allowed hosts', () => {
  test('are allowed only by name and port', async () => {
    const { origin, port } = await listen((_request, response) => response.end(song));
    const other = await forbidden();
    const fetcher = fetcherFor({ allowedHosts: [`127.0.0.1:${port}`] });
    expect((await read(fetcher, origin)).length).toBe(song.length);
    await expect(read(fetcher, other.origin)).rejects.toMatchObject({ code: 'address' });
  });

  test.each([
    ['443', 'https', 'http'],
    ['80', 'http', 'https'],
  ])('with port %s match addresses without a port over %s', async (port, allowed, refused) => {
    const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const fetcher = fetcherFor({ allowedHosts: [`media.example:${port}`], lookup });
    // The attempt counts, whether or not a server listens there.
    await expect(read(fetcher, `${allowed}://media.example/`)).rejects.not.toMatchObject({ code: 'address' });
    await expect(read(fetcher, `${refused}://media.example/`)).rejects.toMatchObject({
      code: 'address',
      message: expect.stringContaining('media.example'),
    });
  });

  test('may end in a dot or be IPv6, and must resolve to IP addresses', async () => {
    const { port } = await listen((_request, response) => response.end(song));
    let address = '127.0.0.1';
    const lookup: Lookup = async () => [{ address, family: 4 }];
    const fetcher = fetcherFor({ allowedHosts: [`media.example:${port}`, '[::1]:9'], lookup });
    expect((await read(fetcher, `http://media.example.:${port}/`)).length).toBe(song.length);
    await expect(read(fetcher, 'http://[::1]:9/')).rejects.not.toMatchObject({ code: 'address' });
    address = 'localhost';
    const unresolved = fetcherFor({ allowedHosts: [`media.example:${port}`], lookup });
    await expect(read(unresolved, `http://media.example:${port}/`)).rejects.toMatchObject({
      code: 'address',
    });
  });

  test('are only for the gateway: typed addresses never reach them, even over an open connection', async () => {
    const { origin } = await listen((_request, response) => response.end(song));
    const { answer, origin: forbiddenOrigin } = await forbidden();
    const fetcher = fetcherFor();
    expect((await read(fetcher, origin)).length).toBe(song.length);
    for (const url of [origin, forbiddenOrigin]) {
      const typed = read(fetcher, url, { ...audio, from: 'person' });
      await expect(typed).rejects.toMatchObject({ code: 'address', retryable: false });
    }
    expect(answer).not.toHaveBeenCalled();
  });
});

describe('a redirect', () => {
  test('to a private address is refused', async () => {
    const { port, answer } = await forbidden();
    const { port: outside } = await listen((_request, response) =>
      response.writeHead(302, { location: `http://localhost:${port}/` }).end(),
    );
    const fetcher = fetcherFor({ allowedHosts: [`127.0.0.1:${outside}`] });
    await expect(read(fetcher, `http://127.0.0.1:${outside}/`)).rejects.toMatchObject({ code: 'address' });
    expect(answer).not.toHaveBeenCalled();
  });

  test.each([
    ['file:///etc/passwd', 'redirects'],
    ['gopher://127.0.0.1/', 'redirects'],
    ['http://user@127.0.0.1/', 'address'],
    ['http://[::1]/', 'address'],
    ['//169.254.169.254/latest', 'address'],
    ['http://', 'redirects'],
  ])('to %s is refused', async (location, code) => {
    const { origin } = await listen((_request, response) => response.writeHead(301, { location }).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code });
  });

  test('without a target is refused', async () => {
    const { origin } = await listen((_request, response) => response.writeHead(302).end());
    await expect(read(fetcherFor(), origin)).rejects.toMatchObject({ code: 'redirects' });
  });

  test('is followed up to the limit, so an endless chain is refused', async () => {
    let requestCount = 0;
    const { origin } = await listen((request, response) => {
      requestCount += 1;
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end(song);
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const fetcher = fetcherFor({ maximumRedirects: 3 });
    expect((await read(fetcher, `${origin}/3`)).length).toBe(song.length);
    requestCount = 0;
    await expect(read(fetcher, `${origin}/1000000`)).rejects.toMatchObject({ code: 'redirects' });
    expect(requestCount).toBe(4);
  });

  test('keeps credentials only for the same origin', async () => {
    const received: unknown[] = [];
    const other = await listen((request, response) => {
      received.push(['other', request.headers.authorization]);
      response.end(song);
    });
    const { origin } = await listen((request, response) => {
      received.push([request.url, request.headers.authorization]);
      const location = request.url === '/' ? '/again' : other.origin;
      response.writeHead(302, { location }).end();
    });
    await read(fetcherFor(), origin, { ...audio, headers: { authorization: 'Bearer secret' } });
    expect(received).toEqual([
      ['/', 'Bearer secret'],
      ['/again', 'Bearer secret'],
      ['other', undefined],
    ]);
  });
});

test('an unreachable server and an unresolvable name are network failures', async () => {
  const lookup: Lookup = async (hostname) => {
    throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND', hostname });
  };
  const fetcher = fetcherFor({ lookup, allowedHosts: ['127.0.0.1:1'] });
  await expect(read(fetcher, 'http://127.0.0.1:1/')).rejects.toMatchObject({
    code: 'network',
    retryable: true,
  });
  await expect(read(fetcher, 'http://nowhere.example/')).rejects.toMatchObject({ code: 'network' });
});
