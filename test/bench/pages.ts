/** P12: from the request until a browser has painted the page of a song, with a cold cache. */
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

async function measurePages({ short }: Extent): Promise<Comparison[]> {
  // Elsewhere there is no browser to ask.
  if (noBrowser !== undefined) return [];
  const files = new Files();
  await using site = await serveSong({ song: sampleSong(files), files });
  await using browser = await startBrowser();
  await measureIn(browser, site.songUrl, PAINTED);
  const painted = await inAlternation(short ? 5 : 15, {
    product: () => measureIn(browser, site.songUrl, PAINTED),
    text: () => measureIn(browser, site.plainUrl, PAINTED),
  });
  const bytes = await measureIn(browser, site.songUrl, LOADED);
  return [
    {
      what: 'first contentful paint of a song',
      unit: 'ms',
      product: painted.product,
      peer: 'the same page without style and scripts',
      theirs: painted.text,
      goal: { atMost: 3 },
    },
    {
      what: 'a page without media',
      unit: 'kB',
      product: bytes / 1_000,
      peer: 'what it may weigh',
      theirs: MOST_BYTES / 1_000,
      goal: { atMost: 1 },
    },
  ];
}

export const pagesRow: BenchRow = { id: 'p12', title: 'The pages', measure: measurePages };
