import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Rooms in which words are defined; everybody may speak them. */
const VOCABULARY = [
  'command',
  'declaration',
  'invocation',
  'context',
  'message',
  'errors',
  'work',
  'moderation',
];

/**
 * What each room may import, beside itself: imports run one way. `types of x` allows `import type` alone, and a path
 * allows one file of a room.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  message: [],
  errors: ['message'],
  command: ['message', 'declaration', 'invocation', 'context', 'types of work'],
  declaration: ['types of context', 'types of invocation'],
  invocation: ['types of declaration'],
  context: [
    'types of command',
    'types of declaration',
    'types of invocation',
    'types of message',
    'types of moderation',
    'types of work',
    'types of gateway',
  ],
  moderation: ['types of command', 'types of message'],
  work: ['types of command', 'types of message', 'types of gateway'],
  options: VOCABULARY,
  config: ['gateway'],
  bot: [...VOCABULARY, 'options', 'types of platforms'],
  commands: [...VOCABULARY, 'types of gateway'],
  gateway: [],
  emulator: [],
  media: VOCABULARY,
  storage: [...VOCABULARY, 'src/jobs/job.ts'],
  settings: [...VOCABULARY, 'gateway', 'types of storage', 'src/storage/usage.ts'],
  charts: [],
  metrics: [],
  jobs: [...VOCABULARY, 'gateway', 'media', 'src/storage/storage.ts', 'src/platforms/platform.ts'],
  http: [...VOCABULARY, 'types of media'],
  platforms: VOCABULARY,
  'platforms/discord': [...VOCABULARY, 'platforms'],
  'platforms/command-line': VOCABULARY,
  'platforms/slack': [...VOCABULARY, 'platforms', 'platforms/command-line'],
  'platforms/terminal': [...VOCABULARY, 'platforms', 'platforms/command-line'],
};

/** What puts the rooms together. It may import everything, and no room imports it. */
const PROGRAMS = [
  'administration',
  'assemble',
  'chat-platforms',
  'demo',
  'export',
  'import',
  'log',
  'main',
  'manifest',
  'invocation-context',
  'open-gateway',
  'open-media',
  'open-storage',
  'process',
  'register',
];

/** Packages that stay inside their rooms. A name that ends with a slash means all packages of that scope. */
const AT_HOME: Readonly<Record<string, readonly string[]>> = {
  'discord.js': ['platforms/discord'],
  '@discordjs/': ['platforms/discord'],
  'discord-api-types': ['platforms/discord'],
  '@slack/': ['platforms/slack'],
  bullmq: ['storage'],
  ioredis: ['storage'],
  keyv: ['storage', 'settings'],
  '@keyv/': ['storage', 'settings'],
  'node:sqlite': ['storage'],
  echarts: ['charts'],
  '@resvg/': ['charts'],
  'prom-client': ['metrics'],
  s3mini: ['media'],
  'file-type': ['media'],
  sharp: ['media'],
  fastify: ['http', 'emulator'],
  'eventsource-parser': ['gateway'],
  pino: PROGRAMS,
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
  // Whole statements at the beginning of a line, and calls of import() anywhere; comments are neither.
  const statements =
    /^(?:import|export)\s(?:(type)\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|(?<!\*.*)\bimport\('([^']+)'\)/gm;
  return [...text.matchAll(statements)].map(([, type, of, called]) => ({
    from: path,
    specifier: of ?? called ?? '',
    typeOnly: type === 'type',
  }));
}

function roomOf(path: string): string {
  if (path.startsWith('commands/')) return 'commands';
  const [, platform] = /^src\/platforms\/([\w-]+)\//.exec(path) ?? [];
  if (platform) return `platforms/${platform}`;
  return path.replace(/^src\//, '').replace(/(\/.*|\.ts)$/, '');
}

/** Sentences about imports that break the rules. */
function violations(sources: readonly Source[]): string[] {
  return sources.flatMap(importsOf).flatMap((found) => {
    const { from, specifier } = found;
    const room = roomOf(from);
    if (!specifier.startsWith('.')) {
      const [, homes] =
        Object.entries(AT_HOME).find(([name]) =>
          name.endsWith('/')
            ? specifier.startsWith(name)
            : specifier === name || specifier.startsWith(`${name}/`),
        ) ?? [];
      return homes && !homes.includes(room)
        ? [`${from} imports ${specifier}, which belongs to ${homes}`]
        : [];
    }
    const to = normalize(join(dirname(from), specifier));
    if (PROGRAMS.includes(room) || roomOf(to) === room) return [];
    const allowed = MAY_IMPORT[room];
    if (!allowed) return [`${from} belongs to no known room`];
    const isAllowed =
      allowed.includes(roomOf(to)) ||
      allowed.includes(to) ||
      (found.typeOnly && allowed.includes(`types of ${roomOf(to)}`));
    return isAllowed ? [] : [`${from} imports ${found.typeOnly ? 'types of ' : ''}${to}`];
  });
}

const sources = globSync(['src/**/*.ts', 'commands/**/*.ts']).map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
}));

test('imports run one way, and packages stay inside their rooms', () => {
  expect(violations(sources)).toEqual([]);
});

test('every room of the rules is there, so that no rule is about nothing', () => {
  const rooms = new Set(sources.map(({ path }) => roomOf(path)));
  expect(Object.keys(MAY_IMPORT).filter((room) => !rooms.has(room))).toEqual([]);
});

test('only programs touch the environment of the process', () => {
  const readers = sources.filter(({ text }) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(text));
  expect(readers.filter(({ path }) => !PROGRAMS.includes(roomOf(path))).map(({ path }) => path)).toEqual([]);
});

test('only programs import the settings', () => {
  const readers = sources
    .flatMap(importsOf)
    .filter(({ specifier }) => /(^|\/)config(\.ts$|\/)/.test(specifier));
  expect(readers.length).toBeGreaterThan(0);
  expect(
    readers.filter(({ from }) => ![...PROGRAMS, 'config'].includes(roomOf(from))).map(({ from }) => from),
  ).toEqual([]);
});

describe('the reader of these rules sees', () => {
  test.each([
    [
      'a platform that reaches into jobs',
      'src/platforms/discord/show.ts',
      "import { a } from '../../jobs/jobs.ts';",
    ],
    ['types, too', 'src/platforms/slack/show.ts', "import type { Job } from '../../jobs/job.ts';"],
    ['a platform that leans on another', 'src/platforms/web/x.ts', "import { a } from '../slack/show.ts';"],
    ['a gateway that knows chat', 'src/gateway/chat.ts', "import { a } from '../message.ts';"],
    ['an emulator that borrows', 'src/emulator/main.ts', "export { a } from '../gateway/routes.ts';"],
    ['a command that calls the gateway', 'commands/song.ts', "import { a } from '../src/gateway/client.ts';"],
    ['a value where types are allowed', 'src/bot.ts', "import { type A } from './platforms/platform.ts';"],
    ['a room that starts the program', 'src/jobs/x.ts', "import { a } from '../assemble.ts';"],
    ['imports over several lines', 'src/gateway/x.ts', "import {\n  a,\n  b,\n} from '../jobs/job.ts';"],
    ['imports for their effect', 'src/gateway/x.ts', "import '../jobs/job.ts';"],
    ['late imports', 'src/media/x.ts', "const a = await import('../jobs/job.ts');"],
    ['a package away from home', 'src/jobs/x.ts', "import { Client } from 'discord.js';"],
    ['a part of a package away from home', 'src/bot.ts', "import { App } from '@slack/bolt/dist';"],
    ['a room that nobody planned', 'src/helpers/x.ts', "import { a } from '../message.ts';"],
  ])('%s', (_name, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1);
  });

  test('and leaves comments alone', () => {
    const text = " * Use it as `import('../jobs/job.ts')`.\n// import { a } from '../jobs/job.ts';";
    expect(violations([{ path: 'src/gateway/x.ts', text }])).toEqual([]);
  });
});
