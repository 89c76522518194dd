/** Plays a visit to the playground in Chromium: an animated picture, a still, and the mixer of the song's page. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { startEmulator } from '../../src/emulator/server.ts';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import type { TestBrowser } from '../servers/browser.ts';

/** In CSS pixels. */
const SIZE = { width: 960, height: 640 };
/** Pixels for each CSS pixel: sharp at the README's width on dense screens. */
const SCALE = 1.5;
const FRAME_MS = 120;
/** A pause in the animation is cut to this length. */
const LONGEST_FRAME_MS = 1_500;
/** The gateway's work is cut to this length. */
const LONGEST_WAIT_MS = 4_000;
const LAST_FRAME_MS = 4_000;
/** About as fast as people type. */
const KEY_MS = 45;

export interface PlaygroundPictures {
  readonly animation: Buffer;
  readonly still: Buffer;
  readonly mixer: Buffer;
}

export async function capturePlayground(browser: TestBrowser): Promise<PlaygroundPictures> {
  const emulator = await startEmulator({ speed: 0.4 });
  try {
    await using running = await startMinstrel({ PLAYGROUND: '1' }, { emulator });
    const { page, problems } = await browser.visit(running.minstrel.playgroundUrl ?? '', {
      deviceScaleFactor: SCALE,
    });
    await page.setViewportSize(SIZE);
    const film = startFilm(page);
    await createSong(page, film);
    const still = await page.screenshot();
    await splitSong(page, film);
    const animation = await film.end();
    const mixer = await captureMixer(page);
    if (problems.length > 0) throw new Error(`The playground: ${problems.join('; ')}`);
    return { animation, still, mixer };
  } finally {
    await emulator.close();
  }
}

/** Types the command, and listens to the result. */
async function createSong(page: Page, film: Film): Promise<void> {
  const composer = page.getByRole('textbox', { name: /type \/ for commands/ });
  await composer.focus();
  await delay(LONGEST_FRAME_MS);
  await page.keyboard.type('/song a tune for evening rain --style lofi, soft piano', { delay: KEY_MS });
  await page.keyboard.press('Enter');
  await film.shorten(page.getByRole('button', { name: /^Stems take 1/ }).waitFor());
  await page.getByRole('button', { name: /^Play .*Take 1/ }).click();
  await delay(2 * LONGEST_FRAME_MS);
}

async function splitSong(page: Page, film: Film): Promise<void> {
  await page.getByRole('button', { name: /^Stems take 1/ }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel(/split/i).selectOption('split_stem');
  await delay(LONGEST_FRAME_MS);
  await form.getByRole('button', { name: 'Split' }).click();
  const mixer = page.getByRole('group', { name: /^Mixer/ });
  await film.shorten(mixer.waitFor());
  await mixer.getByRole('button', { name: /^Play/ }).click();
  await delay(3 * LONGEST_FRAME_MS);
}

async function captureMixer(page: Page): Promise<Buffer> {
  const link = await page.getByRole('link', { name: /mixer/i }).last().getAttribute('href');
  await page.goto(new URL(link ?? '', page.url()).href);
  await page.setViewportSize({ ...SIZE, height: 1_100 });
  // The address opens the mixer.
  await page.locator('[data-mixer] .bars').last().waitFor();
  await page.getByRole('button', { name: /^Play / }).click();
  // Long enough to see the position in the waves.
  await delay(LONGEST_FRAME_MS * 2);
  return page.screenshot();
}

interface Film {
  /** Shows only the beginning and the end of the wait. */
  shorten(waiting: Promise<unknown>): Promise<void>;
  end(): Promise<Buffer>;
}

/** Takes screenshots until `end`, which joins those that differ. */
function startFilm(page: Page): Film {
  const frames: { readonly image: Buffer; readonly at: number }[] = [];
  const ended = new AbortController();
  let paused = false;
  const filming = film();
  // A visit that fails closes the page, and its own error is the one to report.
  filming.catch(() => {});
  async function film(): Promise<void> {
    while (!ended.signal.aborted) {
      const at = performance.now();
      const image = await page.screenshot({ caret: 'initial' });
      if (!paused && !frames.at(-1)?.image.equals(image)) frames.push({ image, at });
      await delay(Math.max(0, at + FRAME_MS - performance.now()));
    }
  }
  return {
    async shorten(waiting) {
      const pause = setTimeout(() => {
        paused = true;
      }, LONGEST_WAIT_MS);
      await waiting.finally(() => clearTimeout(pause));
      paused = false;
    },
    async end() {
      ended.abort();
      await filming;
      const delays = frames.map(({ at }, index) => {
        const next = frames[index + 1];
        return next ? Math.min(LONGEST_FRAME_MS, Math.round(next.at - at)) : LAST_FRAME_MS;
      });
      return await sharp(
        frames.map(({ image }) => image),
        { join: { animated: true } },
      )
        .webp({ lossless: true, effort: 4, delay: delays, loop: 0 })
        .toBuffer();
    },
  };
}
