import { randomBytes } from 'node:crypto';
import { parse } from 'content-disposition';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileRoutes } from '../../src/http/files.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { ContentKind } from '../../src/media/content/types.ts';
import { createMedia } from '../../src/media/media.ts';
import { createFolderStore } from '../../src/media/store/folder.ts';
import type { MediaStore } from '../../src/media/store/media-store.ts';
import { fetcherFor, mp3, temporaryFolder } from '../media/helpers.ts';

const song = mp3(200);

/** A listener with a stored song, an adjustable clock and a recorded log. */
async function open(options: { store?: Partial<MediaStore> } = {}) {
  let time = Date.UTC(2031, 4, 5);
  const now = () => time;
  const logged: unknown[] = [];
  const record = (fields: object) => logged.push(fields);
  const log = { debug: record, info: record, warn: record, error: record };
  const signing = {
    publicUrl: 'http://bot.example',
    secrets: ['new secret', 'old secret'],
    linkTtlSeconds: 600,
    now,
    random: () => 0.5,
  };
  const folder = createFolderStore({ directory: await temporaryFolder(), now });
  const fetcher = fetcherFor();
  const media = createMedia({ ...signing, store: { ...folder, ...options.store }, fetcher, log });
  const server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: [fileRoutes({ media, log, isPageOpen: async () => true, now })],
  });
  onTestFinished(() => server.close());
  const toLocalUrl = (link: string) => link.replace('http://bot.example', server.url);
  const store = async (data: Uint8Array, kind: ContentKind, downloadName: string) => {
    const stored = await media.keepBytes(data, { kinds: [kind] });
    return { stored, link: toLocalUrl(media.link(stored.name, { downloadName })) };
  };
  return {
    ...(await store(song, 'audio', 'Regen über Zürich 雨.mp3')),
    store,
    toLocalUrl,
    media,
    logged,
    url: server.url,
    signing,
    advance: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

describe('a signed link', () => {
  test('serves the file with its type, its name and a policy against scripts', async () => {
    const { link } = await open();
    const response = await fetch(link);

    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(song)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(song.length),
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, max-age=600, immutable',
    });
    const disposition = response.headers.get('content-disposition') ?? '';
    expect(disposition).toContain("filename*=UTF-8''Regen%20%C3%BCber%20Z%C3%BCrich%20%E9%9B%A8.mp3");
    expect(parse(disposition)).toEqual({
      type: 'inline',
      parameters: expect.objectContaining({ filename: 'Regen über Zürich 雨.mp3' }),
    });
  });

  test('downloads files that are not media', async () => {
    const { store } = await open();
    const { link } = await store(Buffer.from('<script>alert(1)</script>'), 'text', 'lyrics.txt');
    const { headers } = await fetch(link);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
  });

  test.each([
    '"quoted"; x=y',
    'line\r\nset-cookie: a=b',
    'null\0',
    'half \ud83d',
    'back\\slash',
    '../up',
    '%41',
    '',
  ])('works with any file name: %j', async (downloadName) => {
    const { stored, media, toLocalUrl } = await open();
    const response = await fetch(toLocalUrl(media.link(stored.name, { downloadName })));
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(parse(response.headers.get('content-disposition') ?? '').type).toBe('inline');
  });

  test('answers HEAD with the headers of GET', async () => {
    const { link } = await open();
    const head = await fetch(link, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String(song.length));
    expect(head.headers.get('content-disposition')).toContain('filename*=');
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  test('still works with the previous secret', async () => {
    const { stored, toLocalUrl, signing, media } = await open();
    const log = { warn: () => undefined };
    const before = createMedia({
      ...signing,
      secrets: ['old secret'],
      log,
      store: unusedStore(),
      fetcher: fetcherFor(),
    });
    const link = before.link(stored.name, { downloadName: 'song.mp3' });
    expect((await fetch(toLocalUrl(link))).status).toBe(200);
    expect(media.link(stored.name, { downloadName: 'song.mp3' })).not.toBe(link);
  });
});

describe('a range request', () => {
  const bytes = song.length;
  test.each([
    { range: 'bytes=0-9', part: [0, 9] },
    { range: 'bytes=100-', part: [100, bytes - 1] },
    { range: 'bytes=-5', part: [bytes - 5, bytes - 1] },
    { range: `bytes=10-${bytes * 2}`, part: [10, bytes - 1] },
    { range: 'bytes=0-0', part: [0, 0] },
    { range: 'bytes=0-9,10-19', part: [0, 19] },
  ] as const)('gets the range: $range', async ({ range, part: [start, end] }) => {
    const { link } = await open();
    const response = await fetch(link, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(song.subarray(start, end + 1))).toBe(true);
  });

  test.each(['bytes=abc', 'items=0-9', 'bytes=0-9,100-109', 'bytes=', '0-9'])(
    'gets the whole file if the header is invalid or has separate ranges: %j',
    async (range) => {
      const { link } = await open();
      const response = await fetch(link, { headers: { range } });
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBe(bytes);
    },
  );

  test.each([`bytes=${bytes}-`, `bytes=${bytes * 2}-${bytes * 3}`, 'bytes=9-0', 'bytes=-0'])(
    'gets 416 for an unsatisfiable range: %s',
    async (range) => {
      const { link } = await open();
      const response = await fetch(link, { headers: { range } });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe(`bytes */${bytes}`);
    },
  );

  test('gets the whole file if the entity tag does not match', async () => {
    const { link } = await open();
    const head = await fetch(link, { method: 'HEAD' });
    const rangeIf = (tag: string) => fetch(link, { headers: { range: 'bytes=0-9', 'if-range': tag } });
    expect((await rangeIf(head.headers.get('etag') ?? '')).status).toBe(206);
    expect((await rangeIf('"another"')).status).toBe(200);
  });
});

describe('404', () => {
  test.each<[string, (link: URL) => unknown]>([
    ['without a signature', (link) => link.searchParams.delete('signature')],
    [
      'with another signature',
      (link) => link.searchParams.set('signature', randomBytes(32).toString('base64url')),
    ],
    ['with half a signature', (link) => link.searchParams.set('signature', 'AAAA')],
    ['with an empty signature', (link) => link.searchParams.set('signature', '')],
    ['with two signatures', (link) => link.searchParams.append('signature', 'x')],
    ['with a later expiry', (link) => link.searchParams.set('expires', '99999999999')],
    ['without an expiry', (link) => link.searchParams.delete('expires')],
    ['with an infinite expiry', (link) => link.searchParams.set('expires', 'Infinity')],
    ['with another download name', (link) => link.searchParams.set('as', 'evil.html')],
    ['for another file', (link) => Object.assign(link, { pathname: `/files/${'0'.repeat(64)}.mp3` })],
    [
      'for another extension',
      (link) => Object.assign(link, { pathname: link.pathname.replace('.mp3', '.html') }),
    ],
    ['for a path traversal', (link) => Object.assign(link, { pathname: '/files/..%2f..%2fetc%2fpasswd' })],
    [
      'for a double-encoded path traversal',
      (link) => Object.assign(link, { pathname: '/files/%252e%252e%252fx' }),
    ],
    ['for a path with a null byte', (link) => Object.assign(link, { pathname: `${link.pathname}%00.txt` })],
    ['for an invalid encoding', (link) => Object.assign(link, { pathname: '/files/%E0%A4%A' })],
    ['for the folder', (link) => Object.assign(link, { pathname: '/files/' })],
    ['for the folder without its slash', (link) => Object.assign(link, { pathname: '/files' })],
    ['for a file that is being written', (link) => Object.assign(link, { pathname: '/files/incoming' })],
    ['for a nested path', (link) => Object.assign(link, { pathname: '/files/in/attachment.mp3' })],
  ])('%s', async (_case, forge) => {
    const { link } = await open();
    const forged = new URL(link);
    forge(forged);
    const response = await fetch(forged);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: 'not found' });
    expect(response.headers.get('content-disposition')).toBeNull();
  });

  test('after the link has expired', async () => {
    const { link, advance } = await open();
    advance(599_000);
    expect((await fetch(link)).status).toBe(200);
    advance(1_000);
    expect((await fetch(link)).status).toBe(404);
  });

  test('after the file was removed, even if it was removed just now', async () => {
    const removed = await open({ store: { stat: async () => undefined } });
    expect((await fetch(removed.link)).status).toBe(404);
    const removedJustNow = await open({ store: { open: async () => undefined } });
    const response = await fetch(removedJustNow.link);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-length')).not.toBe(String(song.length));
  });
});

test('responds with 503 when the file store is down, without logging the signature', async () => {
  const down = async () => {
    throw new Error('the bucket is down');
  };
  const { link, logged } = await open({ store: { stat: down } });
  const response = await fetch(link);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('30');
  expect(logged).toContainEqual(expect.objectContaining({ err: expect.any(Error) }));
  const signature = new URL(link).searchParams.get('signature') ?? 'none';
  expect(JSON.stringify(logged)).not.toContain(signature);
});

function unusedStore(): MediaStore {
  return createFolderStore({ directory: '/nonexistent', now: () => 0 });
}
