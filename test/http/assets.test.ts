import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { assetRoutes, loadAssets, pageHeaders } from '../../src/http/assets.ts';
import type { Routes } from '../../src/http/server.ts';
import { temporaryFolder } from '../media/helpers.ts';
import { noBrowser, startBrowser } from '../servers/browser.ts';
import { listen } from './listener.ts';

const MODULE = `import { render, h, useState } from 'htm/preact/standalone';
import { greeting } from "./greeting.js";
render(h('h1', null, greeting), document.querySelector('main'));
document.title = typeof useState + typeof h;`;

/** A page whose module imports a local module and a package. */
async function open() {
  const folder = await temporaryFolder();
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('page.js', MODULE);
  await write('greeting.js', 'export const greeting = "Hello";');
  await write('page.css', 'h1 { color: rgb(1, 2, 3); }');
  await write('page.test.ts', 'secret');
  await mkdir(join(folder, 'inner'));
  await write('inner/deep.js', 'secret');
  const file = (path: string) => pathToFileURL(join(process.cwd(), 'node_modules', path));
  const sources = {
    path: '/assets/test',
    folders: [pathToFileURL(`${folder}/`)],
    packages: { 'htm/preact/standalone': file('htm/preact/standalone.module.js') },
  };
  const load = () => loadAssets(sources);
  return { write, load };
}

test('caches assets for a year, and changes the version with any asset', async () => {
  const { write, load } = await open();
  const before = await load();
  const { url } = await listen({ routes: [assetRoutes('/assets/test', async () => before)] });
  const style = await fetch(url + before.path('page.css'));
  expect(await style.text()).toContain('rgb(1, 2, 3)');
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(style.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');

  expect((await load()).version).toBe(before.version);
  await write('page.css', 'h1 { color: rgb(3, 2, 1); }');
  const after = await load();
  expect(after.path('page.js')).not.toBe(before.path('page.js'));
  // A page of the new version that requests an asset from an old replica.
  const mixed = await fetch(url + after.path('page.css'));
  expect([mixed.status, mixed.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test('serves modules of other folders, and packages of several modules', async () => {
  const folder = await temporaryFolder();
  for (const name of ['page', 'other', 'pack', 'pack/parts']) await mkdir(join(folder, name));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('page/page.js', "import { a } from '../other/deck.js';\nimport('pack/parts/one').then(a);");
  await write('other/deck.js', "import { b } from './mixing.js';");
  await write('other/secret.js', 'secret');
  await write('pack/parts/one.js', "import { c } from '../core.js';");
  await write('pack/core.js', 'export const c = 1;');
  const at = (path: string) => pathToFileURL(join(folder, path));
  const assets = await loadAssets({
    path: '/assets/test',
    folders: [at('page/')],
    files: [at('other/deck.js')],
    packageFolders: { pack: at('pack/') },
  });
  const { url } = await listen({ routes: [assetRoutes('/assets/test', async () => assets)] });
  const read = async (name: string) => (await fetch(url + assets.path(name))).text();
  expect(await read('page.js')).toBe(
    "import { a } from './deck.js';\nimport('./npm/pack/parts/one.js').then(a);",
  );
  expect(await read('deck.js')).toBe("import { b } from './mixing.js';");
  expect(await read('npm/pack/parts/one.js')).toBe("import { c } from '../core.js';");
  expect(await read('npm/pack/core.js')).toBe('export const c = 1;');
  expect(assets.find('secret.js')).toBeUndefined();
});

test.each([
  'page.test.ts',
  'inner/deep.js',
  'inner%2Fdeep.js',
  '..%2Fassets.ts',
  'npm-zod.js',
  '__proto__',
  '',
])('responds with 404 for other files: %s', async (name) => {
  const { load } = await open();
  const assets = await load();
  const { url } = await listen({ routes: [assetRoutes('/assets/test', async () => assets)] });
  const response = await fetch(`${url}/assets/test/${assets.version}/${name}`);
  expect(response.status).toBe(404);
  expect(() => assets.path(name)).toThrow(RangeError);
});

test.skipIf(noBrowser)('the page policy lets a browser run the modules and nothing else', async () => {
  const { load } = await open();
  const assets = await load();
  const attack = `<script>document.title = 'attacked'</script><img src="x:" onerror="document.title = 'attacked'">`;
  const page =
    (content: string): Routes =>
    (scope) =>
      scope.get(content === '' ? '/' : '/attacked', (_request, reply) =>
        reply
          .headers(pageHeaders())
          .send(
            `<!doctype html><html lang="en"><title>Page</title><link rel="stylesheet" href="${assets.path('page.css')}"><main></main>${content}<script type="module" src="${assets.path('page.js')}"></script></html>`,
          ),
      );
  const routes = [page(''), page(attack), assetRoutes('/assets/test', async () => assets)];
  const { url } = await listen({ routes });
  const browser = await startBrowser();
  onTestFinished(() => browser[Symbol.asyncDispose]());

  const { page: good, problems, accessibilityProblems } = await browser.visit(url);
  const heading = good.getByRole('heading');
  await heading.waitFor();
  expect(await heading.textContent()).toBe('Hello');
  expect(await good.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(1, 2, 3)');
  await expect.poll(() => good.title()).toBe('functionfunction');
  expect(problems).toEqual([]);
  expect(await accessibilityProblems()).toEqual([]);

  const bad = await browser.visit(`${url}/attacked`);
  await expect.poll(() => bad.page.title()).toBe('functionfunction');
  await expect.poll(() => bad.problems.join()).toContain('Content Security Policy');
  expect((await bad.accessibilityProblems()).join()).toContain('image-alt');
});
