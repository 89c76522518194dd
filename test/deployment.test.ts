/** Files shipped with the code: the image, the example settings, the documents. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { NOTICES_FILE, noticesFile } from '../scripts/notices.ts';
import {
  EXAMPLE_FILE,
  exampleFile,
  METRICS_PAGE,
  SETTINGS_PAGE,
  withMetricsTable,
  withSettingsTable,
} from '../scripts/settings.ts';
import { readConfig } from '../src/app/config/read.ts';
import { VARIABLES } from '../src/app/config/schema.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const manifest = z
  .object({
    scripts: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
    engines: z.object({ node: z.string() }),
  })
  .parse(JSON.parse(read('package.json')));

/** Returns the files and packages that `entry` imports, directly, indirectly or dynamically. */
function reachableFrom(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const imports = /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;
    for (const [, of, called] of read(file).matchAll(imports)) {
      const specifier = of ?? called ?? '';
      if (specifier.startsWith('.')) waiting.push(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:'))
        packages.add(/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
    }
  }
  return { files, packages };
}

const pages = [...globSync('*.md'), ...globSync('docs/**/*.md')];

describe('the image', () => {
  const dockerfile = read('Dockerfile');
  const copiedPaths = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' ').map((path) => path.replace(/^\.\//, '')),
  );
  const { files, packages } = reachableFrom('src/main.ts');

  test('copies only existing files', () => {
    expect(copiedPaths.length).toBeGreaterThan(0);
    expect(copiedPaths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('copies every file the bot loads', () => {
    expect(files.size).toBeGreaterThan(50);
    const missing = [...files].filter(
      (file) => !copiedPaths.some((path) => file === path || file.startsWith(`${path}/`)),
    );
    expect(missing).toEqual([]);
  });

  test('contains every package the bot loads, without development packages', () => {
    expect(packages.size).toBeGreaterThan(5);
    expect([...packages].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });

  test('contains the programs that the documents run in it', () => {
    const run = pages.flatMap((page) => [...read(page).matchAll(/\bnode (src\/cli\/[\w-]+\.ts)/g)]);
    const programs = new Set(run.map(([, program = '']) => program));
    expect([...programs].sort()).toEqual(
      ['backup', 'doctor', 'export', 'forget', 'import', 'manifest', 'register', 'restore'].map(
        (name) => `src/cli/${name}.ts`,
      ),
    );
    for (const program of programs) {
      expect(existsSync(program), program).toBe(true);
      const loaded = [...reachableFrom(program).packages].filter((name) => !(name in manifest.dependencies));
      expect(loaded, program).toEqual([]);
    }
  });

  test('includes copied files in the build context', () => {
    const included = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(included.sort()).toEqual([...new Set(copiedPaths)].sort());
  });

  test('runs the same program as npm start, on the same Node', () => {
    expect(dockerfile).toContain(
      `CMD ${JSON.stringify(manifest.scripts.start?.split(' ')).replace(/,/g, ', ')}`,
    );
    const [, major] = /(\d+)/.exec(manifest.engines.node) ?? [];
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
    expect(images).toEqual([images[0], images[0]]);
    expect(images[0]).toMatch(new RegExp(`^node:${major}-slim@sha256:[\\da-f]{64}$`));
  });

  test('does not run as root', () => {
    expect(dockerfile.indexOf('\nUSER node')).toBeGreaterThan(0);
    expect(dockerfile.indexOf('\nUSER node')).toBeLessThan(dockerfile.lastIndexOf('\nCMD'));
  });

  test('uses only existing settings', () => {
    const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
    const set = [...block.matchAll(/([A-Z\d_]+)=(\S+)/g)].map(([, name = '', value]) => [name, value]);
    expect(set.map(([name]) => name).sort()).toEqual([
      'DATA_DIR',
      'HOST',
      'NODE_COMPILE_CACHE',
      'NODE_ENV',
      'PORT',
    ]);
    const requiredSettings = { GATEWAY_BASE_URL: 'https://gateway.example', GATEWAY_API_KEY: 'key' };
    expect(readConfig({ ...Object.fromEntries(set), ...requiredSettings })).toMatchObject({
      production: true,
      listener: { host: '0.0.0.0', port: 3000 },
    });
  });
});

test('the compose file uses only existing settings', () => {
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(read('compose.yaml')) ?? [];
  const names = [...block.matchAll(/^ {6}([A-Z\d_]+):/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !VARIABLES.some((variable) => variable === name))).toEqual([]);
});

test('the compose file pins images, requires a Redis password and drops privileges', () => {
  const compose = read('compose.yaml');
  const services = compose.split(/^ {2}(?=\w+:$)/m).filter((part) => /^(bot|redis):\n {4}/.test(part));
  expect(services).toHaveLength(2);
  for (const service of services) {
    expect(service).toContain('cap_drop:\n      - ALL');
    expect(service).toContain('read_only: true');
    expect(service).toContain('${REDIS_PASSWORD:?');
  }
  const images = [...compose.matchAll(/^ {4}image: (\S+)$/gm)].map(([, image]) => image);
  expect(images).toHaveLength(5);
  expect(images.filter((image) => !/@sha256:[\da-f]{64}$/.test(image ?? ''))).toEqual(['minstrel']);
});

describe('THIRD-PARTY-NOTICES', () => {
  const notices = read(NOTICES_FILE);

  test('is up to date with npm run notices', () => {
    expect(notices).toBe(noticesFile(read('package-lock.json')));
  });

  test('lists shipped packages and the notices that the LGPL requires', () => {
    const [, lgpl = ''] = notices.split('--- LGPL');
    for (const name of ['libvips', 'https://github.com/lovell/sharp-libvips', '@img/sharp-libvips-linux-x64'])
      expect(lgpl).toContain(name);
    for (const name of Object.keys(manifest.dependencies)) expect(notices).toContain(`\n${name} `);
    expect(notices).not.toContain('\nvitest ');
  });
});

describe('the settings', () => {
  test('are documented as in the schema: npm run settings is up to date', () => {
    expect(read(EXAMPLE_FILE)).toBe(exampleFile());
    expect(read(SETTINGS_PAGE)).toBe(withSettingsTable(read(SETTINGS_PAGE)));
  });

  test('and metrics have tables generated by the same script', () => {
    expect(read(METRICS_PAGE)).toBe(withMetricsTable(read(METRICS_PAGE)));
  });

  test('are in .env.example once each, in order, with a description', () => {
    const entries = [...read('.env.example').matchAll(/^# ((?!---)[^\n]+(?:\n# [^\n]+)*)\n#([A-Z\d_]+)=/gm)];
    expect(entries.map(([, , name]) => name)).toEqual(VARIABLES);
    for (const [, sentence] of entries) expect(sentence).toMatch(/^[A-Z].*[.]$/s);
  });

  test('have valid examples in .env.example', () => {
    const examples = [...read('.env.example').matchAll(/^#([A-Z\d_]+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    // The example sets production, which forbids the playground.
    const extra = { GATEWAY_API_KEY: 'key', PLAYGROUND: '0' };
    expect(() => readConfig({ ...Object.fromEntries(examples), ...extra })).not.toThrow();
  });

  test('are in docs/operating/settings.md once each', () => {
    const cells = [...read(SETTINGS_PAGE).matchAll(/^\|((?: `[A-Z\d_]+`,?)+) \|/gm)];
    const rows = cells.flatMap(([, names = '']) => names.match(/[A-Z\d_]+/g) ?? []);
    expect(rows.sort()).toEqual([...VARIABLES].sort());
  });
});

/** Derives anchors from headings as GitHub does. */
function headingsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('npm start and the operators’ scripts check the version of Node', () => {
  const older = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "22.1.0" })';
  const run = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(run('src/cli/preload.js')).toMatchObject({ status: 0, stderr: '' });
  const forDevelopers = ['settings', 'notices'];
  const forOperators = Object.entries(manifest.scripts).filter(
    ([name, script]) => /src\/(?:cli\/.*|main)\.ts/.test(script) && !forDevelopers.includes(name),
  );
  expect(forOperators.length).toBeGreaterThan(8);
  for (const [, script] of forOperators) expect(script).toMatch(/^node --import \.\/src\/cli\/preload\.js /);
  const [, ...doctor] = manifest.scripts.doctor?.split(' ') ?? [];
  for (const args of [['src/cli/preload.js'], doctor])
    expect(run('--import', older, ...args)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^Minstrel requires Node 24 or newer/),
    });
});

test('Git ignores files with secrets that the documents create in the checkout', () => {
  const secretFiles = ['.env', 'data/minstrel.sqlite', 'minstrel.jsonl', 'backups/monday/minstrel.jsonl'];
  const ignoredFiles = execFileSync('git', ['check-ignore', '--no-index', ...secretFiles], {
    encoding: 'utf8',
  });
  expect(ignoredFiles.trim().split('\n')).toEqual(secretFiles);
});

describe('the documents', () => {
  test.each(pages)('%s links only to existing files and headings', (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]*))?\)/g)];
    const missing = targets.flatMap(([, path = '', heading]) => {
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(file)) return [file];
      return heading === undefined || headingsOf(file).includes(heading) ? [] : [`${file}#${heading}`];
    });
    expect(missing).toEqual([]);
  });

  test('show existing pictures of a small size', () => {
    const pictureFiles = pages.flatMap((page) =>
      [...read(page).matchAll(/(?:src="|\]\()([^")]*\.(?:png|mp3))[")]/g)].map(([, path = '']) =>
        join(dirname(page), path),
      ),
    );
    expect([...new Set(pictureFiles)].sort()).toEqual(globSync('docs/pictures/*').sort());
    const large = pictureFiles.filter(
      (file) => statSync(file).size > (file.endsWith('.mp3') ? 300_000 : 150_000),
    );
    expect(large).toEqual([]);
  });

  test('are in one index, once each', () => {
    const linked = [...read('docs/README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) =>
      join('docs', path),
    );
    const indexed = pages.filter(
      (page) => page.startsWith('docs/') && !/decisions\/0|^docs\/README/.test(page),
    );
    expect(linked.sort()).toEqual([...indexed, 'CONTRIBUTING.md'].sort());
  });

  test.each(pages)('%s names only existing npm scripts', (page) => {
    const scripts = [...read(page).matchAll(/npm run (?:--\w+ )*([a-z][\w:-]*)/g)].map(
      ([, name = '']) => name,
    );
    expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  test('name only existing files', () => {
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:src|commands|test)\/[\w./-]+)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(path) && path !== 'commands/limerick.ts')
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  test('index all decisions with a date and a status', () => {
    const rows = [
      ...read('docs/decisions/README.md').matchAll(
        /^\| (\d+) \| \[(.+)\]\((.+)\) \| \d{4}-\d\d-\d\d \| .+ \|$/gm,
      ),
    ].map(([, number, title, file]) => ({ file, heading: `# ${number}. ${title}` }));
    const pagesOfDecisions = globSync('docs/decisions/0*.md').map((path) => ({
      file: basename(path),
      heading: read(path).split('\n')[0],
    }));
    expect(rows).toEqual(pagesOfDecisions.sort((a, b) => (a.file < b.file ? -1 : 1)));
  });

  test('contain an example of a valid command', async () => {
    const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(read('README.md')) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-example-'));
    const file = join(folder, 'limerick.ts');
    await writeFile(file, example.replaceAll("'../src/", `'${process.cwd()}/src/`));
    const { limerick } = await import(file);
    expect(limerick).toMatchObject({
      name: 'limerick',
      options: { about: { type: 'text', required: true } },
    });
    expect(limerick.done({ result: { lyrics: [{ title: 'Rain', text: 'There was' }] } })).toMatchObject({
      title: 'Rain',
    });
    await rm(folder, { recursive: true });
  });
});
