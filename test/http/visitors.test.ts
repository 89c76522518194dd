import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer, isOwnNetwork, type Routes } from '../../src/http/server.ts';
import { limitVisitors } from '../../src/http/visitors.ts';
import { collectLog } from './listener.ts';

/** A listener with a page, and a file whose response waits until it is released. */
async function open() {
  let time = 0;
  const gate = Promise.withResolvers<void>();
  const routes: Routes = (scope) => {
    scope.get('/slow', async (_request, reply) => {
      await gate.promise;
      return reply.send('file');
    });
    scope.get('/quick', (_request, reply) => reply.send('page'));
  };
  const server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: collectLog(),
    routes: [limitVisitors([routes], { elapsed: () => time }), (scope) => scope.get('/other', () => 'other')],
  });
  onTestFinished(() => server.close());
  onTestFinished(() => gate.resolve());
  const get = async (path: string, visitor?: string) =>
    fetch(server.url + path, { headers: visitor === undefined ? {} : { 'x-forwarded-for': visitor } });
  const advance = (milliseconds: number) => {
    time += milliseconds;
  };
  return { get, release: gate.resolve, advance };
}

test('limits concurrent requests per visitor without affecting others', async () => {
  const { get, release } = await open();
  const streams = Array.from({ length: 64 }, () => get('/slow', '203.0.113.7'));
  await expect.poll(async () => (await get('/quick', '203.0.113.7')).status).toBe(429);
  const refused = await get('/quick', '203.0.113.7');
  expect([refused.headers.get('retry-after'), await refused.json()]).toEqual([
    '5',
    { error: 'too many requests' },
  ]);
  // The list starts with the visitor's own claims and ends with the address the proxy saw.
  expect((await get('/quick', '198.51.100.1, 203.0.113.7')).status).toBe(429);
  expect((await get('/quick', '203.0.113.7, 198.51.100.1')).status).toBe(200);
  expect((await get('/quick')).status).toBe(200);
  expect((await get('/other', '203.0.113.7')).status).toBe(200);
  release();
  for (const stream of streams) expect((await stream).status).toBe(200);
  await expect.poll(async () => (await get('/quick', '203.0.113.7')).status).toBe(200);
});

test('allows 600 requests in a burst, then 20 per second', async () => {
  const { get, advance } = await open();
  for (let request = 0; request < 600; request += 1) await (await get('/quick', '2001:db8::7')).text();
  expect((await get('/quick', '2001:db8::7')).status).toBe(429);
  expect((await get('/quick', '2001:db8:0:1::7')).status).toBe(200);
  advance(1_000);
  const statuses = [];
  for (let request = 0; request < 21; request += 1)
    statuses.push((await get('/quick', '2001:db8::7')).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
});

test('counts a visitor once across ports and within an IPv6 network', async () => {
  const { get, release } = await open();
  const sameVisitors = [
    ['203.0.113.7:1', '203.0.113.7:65535', '203.0.113.7', '::ffff:203.0.113.7'],
    ['2001:db8::1', '2001:db8::ffff:1:2:3', '[2001:DB8::2]', '[2001:db8::3]:443'],
  ];
  const streams = sameVisitors.flatMap(([first]) => Array.from({ length: 64 }, () => get('/slow', first)));
  for (const visitor of sameVisitors.flat())
    await expect.poll(async () => (await get('/quick', visitor)).status).toBe(429);
  for (const visitor of ['203.0.113.8:1', '2001:db8:0:1::1', 'unknown', '_hidden', '1'])
    expect((await get('/quick', visitor)).status).toBe(200);
  release();
  for (const stream of streams) expect((await stream).status).toBe(200);
});

test('ignores values that are not addresses', async () => {
  const { get } = await open();
  for (let request = 0; request < 601; request += 1)
    expect((await get('/quick', '198.51.100.1, secret')).status).toBe(200);
});

test('recognises addresses of this machine and network', () => {
  const local = [
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '10.0.0.1:80',
    '[::1]:80',
  ];
  expect(local.filter(isOwnNetwork)).toEqual(local);
  expect(
    [
      '203.0.113.7',
      '172.32.0.1',
      '2001:db8::1',
      '::ffff:203.0.113.7',
      'unknown',
      '',
      '10',
      '10.1',
      '012.0.0.1',
    ].filter(isOwnNetwork),
  ).toEqual([]);
});
