/** A Redis of the test's own, that can be stopped and started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createClient } from '@keyv/redis';
import { freePort } from './free-port.ts';

export interface RedisServer {
  readonly url: string;
  /** Resolves when it accepts commands; with the data it had when it was killed. */
  start(): Promise<void>;
  /** SIGKILL: only what is in its append-only file comes back. */
  kill(): Promise<void>;
  /** Stops answering without closing a connection, and goes on. */
  freeze(): void;
  thaw(): void;
  dispose(): Promise<void>;
}

function findRedisServer(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(folder, 'redis-server');
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

const program = findRedisServer();
if (program === undefined && process.env.REQUIRE_REDIS !== undefined) {
  throw new Error('REQUIRE_REDIS is set, but there is no redis-server on the PATH.');
}

/** Why tests that need Redis cannot run; undefined if they can. */
export const noRedis = program === undefined ? 'not run: there is no redis-server on the PATH' : undefined;
if (noRedis !== undefined) process.stderr.write(`Redis storage is ${noRedis}. Install Redis 7 to test it.\n`);

/** For a storage whose Redis stays: it waits for a slow machine, in milliseconds. Outages have tests of their own. */
export const PATIENT = { patienceMs: 60_000, answerMs: 60_000, firstConnectionMs: 60_000 } as const;

/** `more`: settings of its own, as Redis takes them on its command line. */
export async function startRedisServer(
  more: Readonly<Record<string, string | string[]>> = {},
): Promise<RedisServer> {
  if (program === undefined) throw new Error('There is no redis-server on the PATH.');
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-redis-'));
  const port = await freePort();
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    daemonize: 'no',
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    ...[value].flat().map(String),
  ]);
  let child: ReturnType<typeof spawn> | undefined;

  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}/0`,
    start: async () => {
      const started = spawn(program, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
      child = started;
      let said = '';
      await new Promise<void>((resolve, reject) => {
        started.stdout.on('data', (chunk: Buffer) => {
          said += chunk.toString();
          if (said.includes('Ready to accept connections')) resolve();
        });
        started.on('exit', () => reject(new Error(`redis-server ended: ${said}`)));
      });
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    dispose: async () => {
      await server.kill();
      // Its own child may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
  await server.start();
  return server;
}

/** A connection of the test's own. It comes back by itself; `destroy()` ends it. */
export async function connectRedis(url: string) {
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
