/** A Redis of the test's own, that can be stopped and started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

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

export async function startRedisServer(): Promise<RedisServer> {
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
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
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

/** A port of loopback that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port to be had.');
  return address.port;
}
