import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * The imports allowed in each layer, besides its own files. `types of x` allows `import type` only, and a path allows that file
 * only. Elsewhere, type imports count too.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: ['types of gateway'],
  gateway: [
    'src/core/util/backoff.ts',
    'src/core/util/bounded-map.ts',
    'src/core/util/own.ts',
    'src/core/util/present.ts',
  ],
  emulator: ['src/core/util/bounded-map.ts', 'src/core/util/installation.ts'],
  media: ['core'],
  storage: ['core'],
  settings: ['core', 'gateway', 'storage'],
  commands: ['core'],
  platforms: ['core'],
  http: ['core'],
  jobs: ['core', 'gateway', 'media', 'settings', 'storage', 'platforms'],
  party: ['core', 'media', 'storage', 'platforms'],
  app: [
    'core',
    'party',
    'gateway',
    'media',
    'storage',
    'settings',
    'commands',
    'platforms',
    'http',
    'jobs',
    'emulator',
    'package.json',
  ],
  cli: ['core', 'gateway', 'storage', 'commands', 'platforms', 'app', 'emulator', 'main', 'package.json'],
  main: ['app', 'core'],
};

/** A platform may import the port and shared code, but no other platform. */
const PLATFORMS = ['discord', 'slack', 'terminal', 'web'];

/**
 * The folders inside a platform, lowest first: each may import the earlier ones. The adapter may import all of them; other
 * top-level files import none.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  discord: ['locales', 'render', 'connection', 'deliver', 'receive', 'voice'],
  slack: ['render', 'connection', 'deliver', 'receive'],
};

/** Packages restricted to certain folders. A name that ends with a slash covers all packages of the scope. */
const PACKAGE_FOLDERS: Readonly<Record<string, string | readonly string[]>> = {
  'discord.js': 'src/platforms/discord/',
  '@discordjs/': 'src/platforms/discord/',
  '@snazzah/': 'src/platforms/discord/voice/',
  'discord-api-types': 'src/platforms/discord/',
  opusscript: 'src/media/opus/',
  'mpg123-decoder': ['src/media/opus/', 'src/emulator/'],
  '@slack/': 'src/platforms/slack/',
  bullmq: 'src/storage/redis/',
  redis: 'src/storage/redis/',
  '@redis/': 'src/storage/redis/',
  keyv: 'src/storage/',
  '@keyv/': 'src/storage/',
  'node:sqlite': 'src/storage/sqlite/',
  '@resvg/': ['src/settings/', 'src/emulator/studio/'],
  'prom-client': 'src/http/',
  s3mini: 'src/media/',
  'file-type': 'src/media/',
  sharp: ['src/media/', 'src/emulator/'],
  'eventsource-parser': 'src/gateway/',
  croner: 'src/settings/schedules/',
  'chrono-node': 'src/settings/schedules/',
  pino: 'src/app/',
  '@opentelemetry/': 'src/app/telemetry/',
};

interface Source {
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

function importsOf({ path, text }: Source): Import[] {
  // Matches statements at the start of a line and import() anywhere, but not comments.
  const statements =
    /^(?:import|export)\s(?:(type)\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|(?<!\*.*)\bimport\('([^']+)'\)/gm;
  return [...text.matchAll(statements)].map(([, type, of, called]) => ({
    from: path,
    specifier: of ?? called ?? '',
    typeOnly: type === 'type',
  }));
}

function targetOf({ from, specifier }: Import): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : undefined;
}

function layerOf(path: string): string {
  const [first = '', second = ''] = path.replace(/\.ts$/, '').split('/');
  return first === 'src' ? second : first;
}

function platformOf(path: string): string | undefined {
  const [, , platform = ''] = path.split('/');
  return path.startsWith('src/platforms/') && PLATFORMS.includes(platform) ? platform : undefined;
}

/** Returns the level of a file inside its platform. */
function rankOf(path: string): number | undefined {
  const folders = FOLDERS[platformOf(path) ?? ''];
  if (!folders) return undefined;
  const [, , , part = ''] = path.split('/');
  if (part === 'adapter.ts') return folders.length;
  return part.endsWith('.ts') ? -1 : folders.indexOf(part);
}

/** Describes each import that breaks the rules. */
function violations(sources: readonly Source[]): string[] {
  return sources.flatMap(importsOf).flatMap((imported) => {
    const { from, specifier, typeOnly } = imported;
    const to = targetOf(imported);
    if (to === undefined) {
      const [, folders = []] =
        Object.entries(PACKAGE_FOLDERS).find(([name]) =>
          name.endsWith('/')
            ? specifier.startsWith(name)
            : specifier === name || specifier.startsWith(`${name}/`),
        ) ?? [];
      const allowed = [folders].flat();
      return allowed.length > 0 && !allowed.some((folder) => from.startsWith(folder))
        ? [`${from} imports ${specifier}, which belongs to ${allowed.join(' and ')}`]
        : [];
    }
    const allowed = MAY_IMPORT[layerOf(from)];
    if (!allowed) return [`${from} belongs to no known layer`];
    const [layer, platform] = [layerOf(to), platformOf(to)];
    if (layer === layerOf(from)) {
      if (platform !== undefined && platform !== platformOf(from))
        return [`${from} imports another platform: ${to}`];
      const [low, high] = [rankOf(to), rankOf(from)];
      return low !== undefined && high !== undefined && low > high
        ? [`${from} imports ${to}, which stands above it`]
        : [];
    }
    const isAllowed =
      allowed.includes(layer) || allowed.includes(to) || (typeOnly && allowed.includes(`types of ${layer}`));
    return isAllowed ? [] : [`${from} imports ${typeOnly ? 'types of ' : ''}${to}`];
  });
}

/** Finds import cycles, including type imports, as Tarjan's strongly connected components. */
function cycles(sources: readonly Source[]): string[][] {
  const targets = new Map(
    sources.map((source) => [source.path, importsOf(source).flatMap((imported) => targetOf(imported) ?? [])]),
  );
  const components: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string): number => {
    const at = order.size;
    order.set(path, at);
    lowest.set(path, at);
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      const reached = order.has(target)
        ? open.includes(target)
          ? (order.get(target) ?? at)
          : at
        : visit(target);
      lowest.set(path, Math.min(lowest.get(path) ?? at, reached));
    }
    if (lowest.get(path) === at) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1 || targets.get(path)?.includes(path)) components.push(circle.toSorted());
    }
    return lowest.get(path) ?? at;
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return components;
}

/** Finds names exported by several files. Overloads, and a type with a value of the same name, count once. */
function duplicateExports(sources: readonly Source[]): string[] {
  const declarations =
    /^export (?:(?:async|abstract|declare) )*(?:function\*?|const|class|interface|type|enum) (\w+)/gm;
  const exported = sources.flatMap(({ path, text }) =>
    [...new Set([...text.matchAll(declarations)].map(([, name = '']) => name))].map((name) => ({
      name,
      path,
    })),
  );
  return [...Map.groupBy(exported, ({ name }) => name)]
    .filter(([, of]) => of.length > 1)
    .map(([name, of]) => `${name}: ${of.map(({ path }) => path).join(', ')}`);
}

const sources = globSync(['src/**/*.ts', 'commands/**/*.ts']).map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
}));

test('imports go one way, and packages stay in their folders', () => {
  expect(violations(sources)).toEqual([]);
});

test('browser code imports only browser code and packages', () => {
  const modules = globSync('src/**/browser/*.js').map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  expect(modules.length).toBeGreaterThan(0);
  const far = modules
    .flatMap(importsOf)
    .filter(({ specifier }) =>
      /^(?:\.\.(?!\/\.\.\/\w+\/browser\/\w+\.js$)|\.\/.*\/|node:|\/)/.test(specifier),
    );
  expect(far).toEqual([]);
});

test('there are no import cycles', () => {
  expect(cycles(sources)).toEqual([]);
});

test('exported names are unique in the project', () => {
  expect(duplicateExports(sources)).toEqual([]);
});

test('src contains no files except main.ts', () => {
  expect(sources.filter(({ path }) => /^src\/[^/]+\.ts$/.test(path)).map(({ path }) => path)).toEqual([
    'src/main.ts',
  ]);
});

test('every layer in the rules exists', () => {
  const layers = new Set(sources.map(({ path }) => layerOf(path)));
  expect(Object.keys(MAY_IMPORT).toSorted()).toEqual([...layers].toSorted());
});

test('only jobs/transitions.ts writes a state', () => {
  const writers = sources.filter(({ text }) =>
    /\bstate: '(accepted|submitting|waiting|ready|delivered|failed|expired|cancelled)'/.test(text),
  );
  expect(writers.map(({ path }) => path)).toEqual(['src/jobs/transitions.ts']);
});

test('only app/config reads the process environment, and only programs pass it on', () => {
  const readers = sources.filter(({ text }) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(text));
  const programs = ['app', 'cli', 'emulator'];
  expect(readers.filter(({ path }) => !programs.includes(layerOf(path))).map(({ path }) => path)).toEqual([]);
});

describe('the checker of these rules', () => {
  test.each([
    [
      'a platform that reaches into jobs',
      'src/platforms/discord/show.ts',
      "import { a } from '../../jobs/jobs.ts';",
    ],
    ['types, too', 'src/platforms/slack/show.ts', "import type { Job } from '../../jobs/jobs.ts';"],
    [
      'a platform that leans on another',
      'src/platforms/slack/x.ts',
      "import { a } from '../discord/show.ts';",
    ],
    [
      'a folder that leans on a higher one',
      'src/platforms/discord/connection/x.ts',
      "import { a } from '../receive/invocation.ts';",
    ],
    [
      'a folder of Slack that leans on a higher one',
      'src/platforms/slack/deliver/x.ts',
      "import { a } from '../receive/home.ts';",
    ],
    [
      'a file beside the folders that leans on one',
      'src/platforms/discord/errors.ts',
      "import { a } from './deliver/show.ts';",
    ],
    [
      'what platforms share leaning on one',
      'src/platforms/shared/x.ts',
      "import { a } from '../slack/x.ts';",
    ],
    ['a gateway that knows chat', 'src/gateway/chat.ts', "import { a } from '../core/message.ts';"],
    ['an emulator that borrows', 'src/emulator/server.ts', "export { a } from '../gateway/routes.ts';"],
    ['a command that calls the gateway', 'commands/song.ts', "import { a } from '../src/gateway/client.ts';"],
    [
      'a value where types are allowed',
      'src/core/work.ts',
      "import { type A } from '../gateway/music/client.ts';",
    ],
    ['a layer that starts the program', 'src/jobs/x.ts', "import { a } from '../app/assemble.ts';"],
    ['storage that knows jobs', 'src/storage/x.ts', "import type { A } from '../jobs/jobs.ts';"],
    ['settings away from home', 'src/http/x.ts', "import { readConfig } from '../app/config/read.ts';"],
    ['imports over several lines', 'src/gateway/x.ts', "import {\n  a,\n  b,\n} from '../jobs/jobs.ts';"],
    ['imports for their effect', 'src/gateway/x.ts', "import '../jobs/jobs.ts';"],
    ['late imports', 'src/media/x.ts', "const a = await import('../jobs/jobs.ts');"],
    ['a package away from home', 'src/jobs/x.ts', "import { Client } from 'discord.js';"],
    [
      'a part of a package away from home',
      'src/core/bot/create-bot.ts',
      "import { App } from '@slack/bolt/dist';",
    ],
    ['a folder that no one planned', 'src/helpers/x.ts', "import { a } from '../core/message.ts';"],
  ])('%s', (_name, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1);
  });

  test('finds cycles through types and several files', () => {
    const sourceFile = (path: string, text: string): Source => ({ path, text });
    const two = [
      sourceFile('src/core/a.ts', "import { b } from './b.ts';"),
      sourceFile('src/core/b.ts', "import type { c } from './c.ts';"),
      sourceFile('src/core/c.ts', "export { a } from './a.ts';"),
      sourceFile('src/core/d.ts', "import { a } from './a.ts';"),
    ];
    expect(cycles(two)).toEqual([['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts']]);
    expect(cycles(two.slice(1))).toEqual([]);
  });

  test('finds duplicate exports but ignores overloads', () => {
    const first =
      'export async function open(path: string): void;\nexport async function open(path: URL): void;';
    const sourceFiles = [
      {
        path: 'src/core/a.ts',
        text: `${first}\nexport interface Part {}\nexport const Part = 1;\nconst own = 2;`,
      },
      {
        path: 'src/core/b.ts',
        text: 'export type Part = 1;\nexport const own = 2;\nexport { open } from "./a.ts";',
      },
    ];
    expect(duplicateExports(sourceFiles)).toEqual(['Part: src/core/a.ts, src/core/b.ts']);
  });

  test('ignores comments', () => {
    const text = " * Use it as `import('../jobs/jobs.ts')`.\n// import { a } from '../jobs/jobs.ts';";
    expect(violations([{ path: 'src/gateway/x.ts', text }])).toEqual([]);
  });
});
