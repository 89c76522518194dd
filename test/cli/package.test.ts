/** The npm package: its programs run in an empty folder, with the packages that npm installs and nothing else. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';

const run = promisify(execFile);

let root: string;
let bin: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'minstrel-package-'));
  const checkout = join(root, 'checkout');
  await mkdir(checkout);
  // A copy, because other tests may pack or list the same folder.
  for (const name of ['src', 'commands', 'scripts', 'README.md', 'LICENSE', 'THIRD-PARTY-NOTICES'])
    await cp(join(PROJECT, name), join(checkout, name), { recursive: true });
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json'])
    await cp(join(PROJECT, name), join(checkout, name));
  await symlink(join(PROJECT, 'node_modules'), join(checkout, 'node_modules'), 'dir');
  const { stdout } = await run('npm', ['pack', '--json', '--silent'], {
    cwd: checkout,
    env: PROGRAM_ENVIRONMENT,
  });
  const [packed] = z
    .tuple([z.object({ filename: z.string() })])
    .parse(JSON.parse(stdout.slice(stdout.indexOf('['))));
  const modules = join(root, 'node_modules');
  await installProduction(modules);
  await run('tar', ['-xzf', join(checkout, packed.filename), '-C', modules]);
  bin = join(modules, 'package', 'dist/src/cli/bin.js');
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Links the packages that npm installs with Minstrel. */
async function installProduction(modules: string): Promise<void> {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
    .parse(JSON.parse(await readFile(join(PROJECT, 'package-lock.json'), 'utf8')));
  const names = Object.entries(packages).flatMap(([path, { dev }]) => {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name === undefined || dev ? [] : [name];
  });
  for (const name of names) {
    const link = join(modules, name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(PROJECT, 'node_modules', name), link, 'dir');
  }
}

async function emptyFolder(): Promise<string> {
  return mkdtemp(join(root, 'empty-'));
}

/** Resolves to the output and exit status of a program that ends. */
async function minstrel(args: readonly string[], ...nodeOptions: readonly string[]) {
  const program = spawn(process.execPath, [...nodeOptions, bin, ...args], {
    cwd: await emptyFolder(),
    env: PROGRAM_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  program.stdout.on('data', (chunk) => (stdout += chunk));
  program.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(program, 'close');
  return { code, stdout, stderr };
}

test('--help lists the programs, and help names the commands of the package', async () => {
  const { code, stdout } = await minstrel(['--help']);
  expect(code).toBe(0);
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
  const programs = Object.keys(scripts).filter((name) => scripts[name]?.includes('bin.js'));
  expect([...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name).sort()).toEqual(programs.sort());
  expect(await minstrel(['import', '--help'])).toEqual({
    code: 0,
    stdout: `Usage: npx minstrel import <file>\nImports a file from npx minstrel export into the configured storage.\n`,
    stderr: '',
  });
});

test('an unknown program is refused, and the nearest name is suggested', async () => {
  expect(await minstrel(['docter'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no command “docter”. Did you mean npx minstrel doctor?\n',
  });
  expect((await minstrel(['constructor'])).stderr).toContain('npx minstrel --help lists all commands.');
});

test('an older version of Node gets one sentence', async () => {
  const older = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "22.1.0" })';
  expect(await minstrel([], '--import', older)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Minstrel requires Node 24 or newer from https:\/\/nodejs\.org, .*\n$/),
  });
});

test('minstrel starts the playground, and creates songs and charts without development packages', async () => {
  const folder = await emptyFolder();
  const program = spawn(process.execPath, [bin], {
    cwd: folder,
    env: { ...PROGRAM_ENVIRONMENT, PORT: '0' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    program.kill('SIGKILL');
  });
  let output = '';
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output).toMatch(/Try it in your browser: \S+\n/);
  const [, url = ''] = /Try it in your browser: (\S+)/.exec(output) ?? [];
  const page = await fetch(url);
  expect(page.status).toBe(200);
  const assets = [...(await page.text()).matchAll(/(?:src|href)="([^"]+\/assets\/[^"]+)"/g)];
  expect(assets.length).toBeGreaterThan(1);
  for (const [, path = ''] of assets) expect((await fetch(new URL(path, url))).status, path).toBe(200);

  const files = () => readdir(join(folder, 'minstrel-files')).catch(() => []);
  program.stdin.write('/song rain\n');
  await expect.poll(files).toContain('Rain (take 2).mp3');
  program.stdin.write('/limits report\n');
  await expect.poll(files).toContain('usage.png');
  const closed = once(program, 'close');
  program.stdin.end('exit\n');
  expect((await closed)[0]).toBe(0);
});
