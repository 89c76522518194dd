import { expect, test } from 'vitest';
import type { LyricLine } from '../../../src/core/work.ts';
import type { PageUnavailable, SongPage } from '../../../src/http/pages/content.ts';
import { openSongSite } from './open-song-site.ts';
import { Files, PUBLIC_URL, sampleAlbum, sampleSong } from './song-site.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\`\${1}&amp;\u202Etxt.exe\uD800`;
const LONG = 'Ü'.repeat(5_000);

async function openSample(changes: Partial<SongPage> = {}) {
  const files = new Files();
  const song = { ...sampleSong(files, 1), ...changes };
  return { ...(await openSongSite({ song, files })), song };
}

test('serves lyrics, players and downloads as plain HTML without indexing', async () => {
  const { songUrl } = await openSample();
  const response = await fetch(songUrl);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('x-robots-tag')).toBe('noindex, nofollow');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('set-cookie')).toBeNull();
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
  expect(response.headers.get('content-security-policy')).not.toContain('unsafe');
  expect(page.match(/<audio controls/g)).toHaveLength(2);
  for (const part of [
    'Rain on the Window',
    'Requested by <bdi>Ada</bdi> ·',
    '3 hours ago</time>',
    'lofi, rainy',
    'And I read it once more',
  ])
    expect(page).toContain(part);
  for (const name of ['take 1.wav', 'lossless.wav', 'words.lrc', 'vocals.wav', 'band.wav'])
    expect(page).toContain(`download="${name}"`);
  expect(page).toContain('href="../../songs/more/signature"');
});

const syncedLyrics = (count: number, line: Omit<LyricLine, 'startSeconds'>) =>
  sampleSong(new Files(), 1).takes.map((take) => ({
    ...take,
    lines: Array.from({ length: count }, (_, startSeconds) => ({ ...line, startSeconds })),
  }));

/** Takes whose lyrics have no times. */
const plainTakes = sampleSong(new Files(), 1).takes.map((take) => ({ ...take, lines: [] }));

test.each<[string, Partial<SongPage>]>([
  ['long texts', { title: LONG, style: LONG, lyrics: LONG.repeat(20), person: LONG }],
  ['10,000 short lines', { takes: plainTakes, lyrics: "'\n".repeat(10_000) }],
  ['10,000 short verses', { takes: plainTakes, lyrics: '"\n\n'.repeat(10_000) }],
  ['long lines', { takes: plainTakes, lyrics: `${LONG}\n`.repeat(500) }],
  ['10,000 synced lines', { takes: syncedLyrics(10_000, { text: '&' }) }],
  ['500 long sections', { takes: syncedLyrics(500, { text: 'a', section: LONG.repeat(16) }) }],
])('a page with %s loads less than 150 kB without media', async (_, changes) => {
  const { songUrl } = await openSample(changes);
  expect(await loadedBytes(songUrl)).toBeLessThan(150_000);
});

test('an album of 100 songs with long titles loads less than 150 kB without media', async () => {
  const files = new Files();
  const longest = sampleAlbum(files, Array(100).fill(`${'&'.repeat(200)}Ü`));
  const songs = longest.songs.map((song) => ({ ...song, person: '"'.repeat(200) }));
  const { albumUrl } = await openSongSite({ song: 'erased', album: { songs }, files });
  expect(await loadedBytes(albumUrl)).toBeLessThan(150_000);
  const page = await (await fetch(albumUrl)).text();
  expect(page).toContain('<p class="by">100 songs · 2 min</p>');
  expect(page).toContain('Older songs are not shown.');
});

test('an album of 100 songs with usual titles is complete', async () => {
  const files = new Files();
  const { albumUrl } = await openSongSite({
    song: 'erased',
    album: sampleAlbum(files, Array(100).fill('Rain on the window of an old house')),
    files,
  });
  const page = await (await fetch(albumUrl)).text();
  expect(page.match(/<li /g)).toHaveLength(100);
  expect(page).not.toContain('Older songs are not shown.');
});

/** The size of a page, its style sheet and its modules. */
async function loadedBytes(url: string): Promise<number> {
  const page = await (await fetch(url)).text();
  const loaded = new Set(
    [...page.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]*)"/g)].map(
      ([, path = '']) => new URL(path, url).href,
    ),
  );
  expect(loaded.size).toBeGreaterThan(3);
  let bytes = Buffer.byteLength(page);
  for (const module of loaded) {
    const text = await (await fetch(module)).text();
    for (const [, name = ''] of text.matchAll(/from '(\.\/[\w-]+\.js)'/g))
      loaded.add(new URL(name, module).href);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

test('says when the lyrics are too long for a page', async () => {
  const notice = 'The lyrics are too long to show in full.';
  const short = await openSample({ takes: plainTakes, lyrics: 'One line' });
  const long = await openSample({ takes: plainTakes, lyrics: 'One line\n'.repeat(10_000) });
  expect(await (await fetch(short.songUrl)).text()).not.toContain(notice);
  expect(await (await fetch(long.songUrl)).text()).toContain(notice);
});

test('escapes hostile titles, names, styles, lyrics and stems', async () => {
  const files = new Files();
  const sample = sampleSong(files, 1);
  const song: SongPage = {
    ...sample,
    title: HOSTILE,
    person: HOSTILE,
    style: HOSTILE,
    takes: sample.takes.map((take) => ({
      ...take,
      lines: take.lines.map((line) => ({ ...line, text: HOSTILE, section: HOSTILE })),
      stems: take.stems.map((stem) => ({ ...stem, name: HOSTILE })),
    })),
    basedOn: { title: HOSTILE },
    derived: [{ title: HOSTILE, path: 'songs/x/y' }],
  };
  const [entry] = sampleAlbum(files, [HOSTILE]).songs;
  const album = { channel: HOSTILE, songs: entry ? [{ ...entry, person: HOSTILE }] : [] };
  const { songUrl, albumUrl } = await openSongSite({ song, files, album });
  for (const url of [songUrl, albumUrl]) {
    const page = await (await fetch(url)).text();
    expect(page).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>'/);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    // It does not end its attribute.
    expect(page).not.toMatch(/=""(?:>|&gt;)&lt;script/);
    // Direction marks do not affect the text after their element.
    for (const [line] of page.matchAll(/.*\u202e.*/g))
      expect(line).not.toMatch(/\u202e[^<"]*<(?!\/(?:bdi|title|h1|p|a|span)>)/);
  }
});

test.each([
  [`/songs/song1/${'x'.repeat(43)}`],
  ['/songs/song1/short'],
  ['/songs/other/SIGNATURE'],
  ['/albums/song1/SIGNATURE'],
  ['/songs/song1/SIGNATURE/other'],
])('responds with 404 at %s', async (path) => {
  const { url, songUrl } = await openSample();
  const signature = songUrl.split('/').at(-1) ?? '';
  const response = await fetch(url + path.replace('SIGNATURE', signature));
  expect([response.status, await response.json()]).toEqual([404, { error: 'not found' }]);
});

test.each<[PageUnavailable, string]>([
  ['erased', 'This song was deleted'],
  ['failed', 'This song was not finished'],
  ['withdrawn', 'removed this page'],
  ['off', 'turned off song pages'],
  ['files', 'no longer available'],
])('responds with 410 and a sentence: %s', async (reason, sentence) => {
  const { songUrl, albumUrl } = await openSongSite({ song: reason, album: reason });
  for (const url of [songUrl, albumUrl]) {
    const response = await fetch(url);
    expect(response.status).toBe(410);
    expect(await response.text()).toContain(sentence);
  }
});

test('responds with 503 and a sentence when storage is down, without logging titles', async () => {
  const { songUrl, log } = await openSongSite({
    song: 'erased',
    source: { song: () => Promise.reject(new Error('down')) },
  });
  const response = await fetch(songUrl);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('30');
  expect(await response.text()).toContain('Try again in a minute');
  expect(log.lines.join()).toContain('Could not render a page');
});

test('has link preview metadata with public URLs', async () => {
  const { songUrl, publicSongUrl } = await openSample();
  const page = await (await fetch(songUrl)).text();
  expect(page).toContain('<meta property="og:title" content="Rain on the Window">');
  expect(page).toContain(`<meta property="og:image" content="${PUBLIC_URL}/files/cover.svg">`);
  expect(page).toContain('<meta property="og:audio:type" content="audio/wav">');
  expect(page).toContain(`<meta property="og:url" content="${publicSongUrl}">`);
  for (const [name, content] of [
    ['twitter:card', 'summary'],
    ['twitter:image', `${PUBLIC_URL}/files/cover.svg`],
    ['twitter:data1', 'Ada'],
  ])
    expect(page).toContain(`<meta name="${name}" content="${content}">`);
  expect((await fetch(songUrl)).headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

test('has no preview image without a cover', async () => {
  const files = new Files();
  const { cover: _, ...song } = sampleSong(files, 1);
  const { songUrl } = await openSongSite({ song, files });
  const page = await (await fetch(songUrl)).text();
  expect(page).not.toMatch(/og:image|twitter:image/);
  expect(page).toContain('<meta name="twitter:card" content="summary">');
});

test('shows a 404 page to browsers', async () => {
  const { url } = await openSample();
  const response = await fetch(`${url}/songs/x/y`, { headers: { accept: 'text/html,*/*' } });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('Page not found');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});
