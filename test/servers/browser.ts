/** A real browser: Chromium from the npm package @sparticuz/chromium, controlled by playwright-core. */
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
  throw new Error('REQUIRE_BROWSER is set, but the tests’ Chromium requires Linux on x64.');
}

/** The reason for skipping browser tests; undefined if they can run. */
export const noBrowser = isShipped ? undefined : 'skipped: the tests’ Chromium requires Linux on x64';
if (noBrowser !== undefined) process.stderr.write(`Browser tests are ${noBrowser}.\n`);

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
   * Console errors, violations of the content security policy, failed requests and requests to other hosts. Empty on a
   * correct page.
   */
  readonly problems: readonly string[];
  /** Runs axe-core on the page. Returns one line per problem. */
  accessibilityProblems(): Promise<string[]>;
  /** Releases the window for later visits, which is twice as fast as opening a new one. */
  leave(): void;
}

export interface TestBrowser extends AsyncDisposable {
  /** Opens a URL in a released window, or in a new one without cookies and cache. */
  visit(url: string, options?: VisitOptions): Promise<Visit>;
}

/** A start takes 0.1 s, so each test file can have its own browser. The first start on a machine unpacks 220 MB. */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = await unpacked();
  const browser = await chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: FLAGS,
    // Adds libraries and a font that a bare Debian does not have, so that pages look the same everywhere.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  });
  /** Released windows, by the options that cannot change. */
  const windowsLeft = new Map<string, Page[]>();
  return {
    async visit(url, { width = 1280, colorScheme = 'light', ...options } = {}) {
      const kind = JSON.stringify(options);
      const windows = windowsLeft.get(kind) ?? [];
      windowsLeft.set(kind, windows);
      const page = windows.pop() ?? (await (await browser.newContext(options)).newPage());
      // Errors of the previous page do not count.
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
    if (protocol.startsWith('http') && other !== host) problems.push(`requests ${other}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // Players abort their own requests when they seek or the page closes.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
  });
  return problems;
}

/** Finishes animations first, so that axe sees the final colours. */
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
  // The debugger is exempt from the page's content security policy.
  if (!isThere)
    await page.evaluate(await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  const { violations } = axeSchema.parse(await page.evaluate(AXE_RUN));
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}

/** Returns the folder with the program, its libraries and its font. It persists between runs. */
async function unpacked(): Promise<string> {
  const program = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const packageFile = join(dirname(program), '..', 'package.json');
  const { version } = packageSchema.parse(JSON.parse(await readFile(packageFile, 'utf8')));
  const folder = join(PROJECT, 'node_modules', '.cache', `minstrel-chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}-`);
  // The package unpacks into its process's temporary folder, and unpacks libraries only on AWS Lambda.
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  // Its own file refers to folders on Lambda.
  await writeFile(join(partial, 'fonts', 'fonts.conf'), FONTS);
  // Another run may have created it first.
  await rename(partial, folder).catch(() => rm(partial, { recursive: true }));
  return folder;
}

if (import.meta.main) await Chromium.executablePath();
