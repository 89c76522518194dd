/** P12: from the request until a browser has painted the page of a song or the chat, with a cold cache. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import { Files, sampleSong, serveSong } from '../http/pages/song-site.ts';
import { noBrowser, startBrowser, type TestBrowser } from '../servers/browser.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation } from './measure.ts';

const PAINTED = `new Promise((resolve) => {
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    paint ? resolve(paint.startTime) : requestAnimationFrame(look);
  };
  look();
})`;
const LOADED = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/assets/'))
  .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, performance.getEntriesByType('navigation')[0].decodedBodySize)`;
/** What a page may weigh without media. */
const MOST_BYTES = 150_000;

async function measureIn(browser: TestBrowser, url: string, figure: string): Promise<number> {
  const { page } = await browser.visit(url);
  try {
    return Number(await page.evaluate(figure));
  } finally {
    await page.context().close();
  }
}

/** A page of text alone at another address: without style and scripts. */
async function servePlain(url: string): Promise<AsyncDisposable & { url: string }> {
  const page = await (await fetch(url)).text();
  const plain = page.replaceAll(/<link [^>]*>|<script[^>]*><\/script>/g, '');
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(plain),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a server without a port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function measurePage(
  browser: TestBrowser,
  { name, url, short }: { name: string; url: string } & Extent,
): Promise<Comparison[]> {
  await using plain = await servePlain(url);
  await measureIn(browser, url, PAINTED);
  const painted = await inAlternation(short ? 5 : 15, {
    product: () => measureIn(browser, url, PAINTED),
    text: () => measureIn(browser, plain.url, PAINTED),
  });
  const bytes = await measureIn(browser, url, LOADED);
  return [
    {
      what: `first contentful paint of ${name}`,
      unit: 'ms',
      product: painted.product,
      peer: 'the same page without style and scripts',
      theirs: painted.text,
      goal: { atMost: 3 },
    },
    {
      what: `${name} without media`,
      unit: 'kB',
      product: bytes / 1_000,
      peer: 'what it may weigh',
      theirs: MOST_BYTES / 1_000,
      goal: { atMost: 1 },
    },
  ];
}

async function measurePages({ short }: Extent): Promise<Comparison[]> {
  // Elsewhere there is no browser to ask.
  if (noBrowser !== undefined) return [];
  const files = new Files();
  await using site = await serveSong({ song: sampleSong(files), files });
  await using running = await startMinstrel({});
  await using browser = await startBrowser();
  const chat = running.minstrel.playgroundUrl;
  if (chat === undefined) throw new TypeError('no playground');
  return [
    ...(await measurePage(browser, { name: 'the page of a song', url: site.songUrl, short })),
    ...(await measurePage(browser, { name: 'the playground', url: chat, short })),
  ];
}

export const pagesRow: BenchRow = { id: 'p12', title: 'The pages', measure: measurePages };
