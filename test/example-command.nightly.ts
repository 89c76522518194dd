/** Follows the README's example and its test in CONTRIBUTING exactly, in a copy of the checkout. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const blocks = (page: string) => [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** Copies the files the example needs, and links the packages. */
async function copyCheckout() {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-example-'));
  for (const name of ['commands', 'src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
    await cp(name, join(folder, name), { recursive: true });
  await symlink(resolve('node_modules'), join(folder, 'node_modules'), 'dir');
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

test('the limerick works as written, and its test passes', async () => {
  await using copy = await copyCheckout();
  const at = (file: string) => join(copy.folder, file);
  const [command = '', importLine = ''] = blocks(await readFile('README.md', 'utf8'));
  const contributing = await readFile('CONTRIBUTING.md', 'utf8');
  const [example = ''] = blocks(
    contributing.slice(contributing.indexOf('<!-- test/commands/limerick.test.ts')),
  );
  await writeFile(at('commands/limerick.ts'), command);
  await writeFile(at('test/commands/limerick.test.ts'), example);
  const index = await readFile(at('commands/index.ts'), 'utf8');
  const added = index
    .replace('import { lyrics }', `${importLine}import { lyrics }`)
    .replace(/(const features = \[.*?)\]/s, '$1, limerick]');
  await writeFile(at('commands/index.ts'), added);

  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: copy.folder });
  const vitest = join(copy.folder, 'node_modules/vitest/vitest.mjs');
  const { stdout } = await run(vitest, 'run', 'test/commands/limerick.test.ts', '--no-color');
  expect(stdout).toMatch(/Tests {2}1 passed/);
  // The button's code replaces the import and `done`.
  const [button = ''] = blocks(contributing.slice(contributing.indexOf('<!-- commands/limerick.ts: button')));
  const [secondImport = '', ...done] = button.split('\n\n');
  const withButton = command
    .replace(/^import \{ plain \}.*$/m, secondImport)
    .replace(/^ {2}done: .*(?=^\}\);)/ms, done.join('\n\n'));
  await writeFile(at('commands/limerick.ts'), withButton);
  const show = `
    const { limerick } = await import('./commands/limerick.ts');
    const started = [];
    const context = { jobs: { start: (request) => started.push(request) } };
    limerick.actions.another.run({ job: { id: 'job', title: 'Rain', work: 'work' } }, context);
    console.log(JSON.stringify([limerick.done({ id: 'job' }).actions[0].id, started]));`;
  expect(JSON.parse((await run('--eval', show)).stdout)).toEqual([
    'limerick.another:job:0',
    [{ work: 'work', title: 'Rain', parent: 'job' }],
  ]);
  expect((await run('src/cli/bin.js', 'manifest')).stdout).toContain('"/limerick"');
});
