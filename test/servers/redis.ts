/** A Redis server for a test, which can be stopped and restarted. */
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
  /** Restarts it with its data. Resolves when it accepts commands. */
  start(): Promise<void>;
  /** Sends SIGKILL. Only data in the append-only file survives. */
  kill(): Promise<void>;
  /** Stops responding without closing connections, until thaw. */
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
      // Try the next folder.
    }
  }
  return undefined;
}

const program = findRedisServer();
if (program === undefined && process.env.REQUIRE_REDIS !== undefined) {
  throw new Error('REQUIRE_REDIS is set, but redis-server is not on the PATH.');
}

/** The reason for skipping Redis tests; undefined if they can run. */
export const noRedis = program === undefined ? 'skipped: redis-server is not on the PATH' : undefined;
if (noRedis !== undefined) process.stderr.write(`Redis tests are ${noRedis}. Install Redis 7 to test it.\n`);

/** Long timeouts in milliseconds for slow machines, for storage tests without outages. */
export const PATIENT = { patienceMs: 60_000, answerMs: 60_000, firstConnectionMs: 60_000 } as const;

/** @param more further settings, as on Redis' command line */
export async function startRedisServer(
  more: Readonly<Record<string, string | string[]>> = {},
): Promise<RedisServer> {
  if (program === undefined) throw new Error('redis-server is not on the PATH.');
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
      let output = '';
      await new Promise<void>((resolve, reject) => {
        started.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('Ready to accept connections')) resolve();
        });
        started.on('exit', () => reject(new Error(`redis-server ended: ${output}`)));
      });
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    dispose: async () => {
      await server.kill();
      // A forked child may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
  await server.start();
  return server;
}

/** Opens a connection that reconnects automatically until `destroy()`. */
export async function connectRedis(url: string) {
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
