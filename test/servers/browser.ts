/** A real browser: the Chromium that the npm package @sparticuz/chromium ships, steered by playwright-core. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Chromium from '@sparticuz/chromium';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { PROJECT } from './program.ts';

const isShipped = process.platform === 'linux' && process.arch === 'x64';
if (!isShipped && process.env.REQUIRE_BROWSER !== undefined) {
  throw new Error('REQUIRE_BROWSER is set, but the Chromium of the tests is for Linux on x64 alone.');
}

/** Why tests that need a browser cannot run; undefined if they can. */
export const noBrowser = isShipped ? undefined : 'not run: the Chromium of the tests is for Linux on x64';
if (noBrowser !== undefined) process.stderr.write(`Pages in a browser are ${noBrowser}.\n`);

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
];

const FONTS = `<?xml version="1.0"?>
<fontconfig><dir prefix="relative">fonts</dir><cachedir>~/fonts/cache</cachedir></fontconfig>`;
const packageSchema = z.object({ version: z.string() });

export interface VisitOptions
  extends Pick<BrowserContextOptions, 'colorScheme' | 'deviceScaleFactor' | 'javaScriptEnabled'> {
  /** In CSS pixels. */
  readonly width?: number;
}

export interface Visit {
  readonly page: Page;
  /**
   * What a visitor's console would show as an error, breaches of the content security policy, failed requests and requests
   * to other hosts among them. Empty on a good page.
   */
  readonly problems: readonly string[];
  /** What axe-core finds on the page as it is now, a line each. */
  accessibilityProblems(): Promise<string[]>;
  /** Leaves the window to a later visit, which costs half of one in a new window. */
  leave(): void;
}

export interface TestBrowser extends AsyncDisposable {
  /** Opens an address in a window that was left, or in a new one with no cookies and an empty cache. */
  visit(url: string, options?: VisitOptions): Promise<Visit>;
}

/** Starting takes a tenth of a second, so each test file may have its own. The first start on a machine unpacks 220 MB. */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = await unpacked();
  const browser = await chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: FLAGS,
    // The libraries and the font that it lacks on a bare Debian; everywhere, so that pages look the same.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  });
  /** By what cannot be changed of them. */
  const windowsLeft = new Map<string, Page[]>();
  return {
    async visit(url, { width = 1280, colorScheme = 'light', ...options } = {}) {
      const kind = JSON.stringify(options);
      const windows = windowsLeft.get(kind) ?? [];
      windowsLeft.set(kind, windows);
      const page = windows.pop() ?? (await (await browser.newContext(options)).newPage());
      // What the page before it still does is none of its problems.
      await page.goto('about:blank');
      await page.setViewportSize({ width, height: width < 600 ? 740 : 900 });
      await page.emulateMedia({ media: null, colorScheme });
      const problems = problemsOf(page, new URL(url).host);
      await page.goto(url);
      return {
        page,
        problems,
        accessibilityProblems: () => findAccessibilityProblems(page),
        leave() {
          page.removeAllListeners();
          windows.push(page);
        },
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

function problemsOf(page: Page, host: string): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const { protocol, host: other } = new URL(request.url());
    if (protocol.startsWith('http') && other !== host) problems.push(`asks ${other}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // A player that is left or moved ends its request by itself.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
  });
  return problems;
}

/** Colours that fade would be looked at half way. */
const AXE_RUN = `(() => {
  for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish();
  return axe.run({ resultTypes: ['violations'] });
})()`;
const axeSchema = z.object({
  violations: z.array(
    z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

async function findAccessibilityProblems(page: Page): Promise<string[]> {
  const isThere = await page.evaluate('"axe" in globalThis');
  // Statements of the debugger are not held to the page's content security policy.
  if (!isThere)
    await page.evaluate(await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  const { violations } = axeSchema.parse(await page.evaluate(AXE_RUN));
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}

/** The folder with the program, its libraries and its font. Kept between runs. */
async function unpacked(): Promise<string> {
  const program = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const packageFile = join(dirname(program), '..', 'package.json');
  const { version } = packageSchema.parse(JSON.parse(await readFile(packageFile, 'utf8')));
  const folder = join(PROJECT, 'node_modules', '.cache', `minstrel-chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const made = await mkdtemp(`${folder}-`);
  // The package unpacks into the temporary folder of its process, and its libraries only where it believes to be in a Lambda.
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { TMPDIR: made, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  // Its own names folders of a Lambda.
  await writeFile(join(made, 'fonts', 'fonts.conf'), FONTS);
  // Another run may have been first.
  await rename(made, folder).catch(() => rm(made, { recursive: true }));
  return folder;
}

if (import.meta.main) await Chromium.executablePath();
