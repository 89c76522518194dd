/** The bot in several processes behind a load balancer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../servers/program.ts';

const CLOCK = new URL('./clock.ts', import.meta.url).href;
/** Milliseconds that the balancer looks for a replica, and then waits for its answer. */
const BALANCER_PATIENCE_MS = 5_000;
const READY_WITHIN_MS = 300_000;

export interface Replica {
  /** Starts it with a clock error. Resolves when it serves. */
  start(clockAheadMs?: number): Promise<void>;
  /** Suspends it (SIGSTOP, then SIGCONT), unless it is killed meanwhile. Resolves at the end. */
  freeze(milliseconds: number): Promise<void>;
  /** Sends SIGKILL. Resolves when it has exited. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves to its exit code. */
  stop(): Promise<number | null>;
}

export interface ReplicaOptions {
  /** The folder of its log file. */
  readonly folder: string;
  readonly name: string;
  /** Its clock error at the nth start (from 0), in milliseconds. Default: 0. */
  readonly skew?: (start: number) => number;
}

/** Creates a replica with this environment, which contains its port. */
export function createReplica(
  environment: Record<string, string>,
  { folder, name, skew = () => 0 }: ReplicaOptions,
): Replica {
  let starts = 0;
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> = Promise.resolve();
  const log: WriteStream = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });

  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null;
    ending.kill(signal);
    await exited;
    return ending.exitCode;
  };

  return {
    async start(clockAheadMs = 0) {
      const until = performance.now() + READY_WITHIN_MS;
      for (;;) {
        const started = spawn(process.execPath, ['--import', CLOCK, 'src/main.ts'], {
          cwd: PROJECT,
          env: { ...environment, CHAOS_CLOCK_AHEAD_MS: String(clockAheadMs + skew(starts)) },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        child = started;
        starts += 1;
        exited = once(started, 'exit');
        started.stderr?.pipe(log, { end: false });
        while (started.exitCode === null && started.signalCode === null) {
          if (await isUp(environment.PORT ?? '')) return;
          if (performance.now() > until) {
            await end('SIGKILL');
            throw new Error(`${name} does not come up`);
          }
          await sleep(50);
        }
        if (started.exitCode === null) return;
        // Without Redis it exits and is restarted, as by a supervisor.
        if (performance.now() > until)
          throw new Error(`${name} ended with ${started.exitCode}: see ${folder}`);
        await sleep(500);
      }
    },
    async freeze(milliseconds) {
      const frozen = child;
      frozen?.kill('SIGSTOP');
      await sleep(milliseconds);
      frozen?.kill('SIGCONT');
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

/** True if it serves, even without storage or platforms. */
async function isUp(port: string): Promise<boolean> {
  try {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
    return status === 200;
  } catch {
    return false;
  }
}

export interface Callback {
  readonly path: string;
  readonly body: string;
  status?: number;
}

export interface Balancer {
  readonly url: string;
  /** Received callbacks with their answers; undefined until answered. */
  readonly callbacks: Callback[];
  close(): Promise<void>;
}

/** Sends each request to a replica that accepts the connection. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const callbacks: Balancer['callbacks'] = [];
  let tries = 0;
  const server = createServer((request, response) => {
    relay(request, response).catch(() => response.destroy());
  });

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = request.url ?? '/';
    if (path.startsWith('/callbacks/')) {
      const callback: Callback = { path, body: body.toString('utf8') };
      callbacks.push(callback);
      response.once('finish', () => {
        callback.status = response.statusCode;
      });
    }
    const until = performance.now() + BALANCER_PATIENCE_MS;
    for (;;) {
      tries += 1;
      const port = ports[tries % ports.length] ?? 0;
      const outcome = await tryReplica(port, request, body, response);
      if (outcome !== 'refused') return;
      if (performance.now() > until) {
        response.writeHead(502).end();
        return;
      }
      await sleep(50);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast is safe, because a listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    callbacks,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tryReplica(
  port: number,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<'refused' | 'answered'> {
  return new Promise((resolve) => {
    const timeout = BALANCER_PATIENCE_MS;
    const forwarded = send({ host: '127.0.0.1', port, method, path: url, headers, timeout }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
      reply.on('error', () => response.destroy());
      resolve('answered');
    });
    forwarded.on('timeout', () => forwarded.destroy());
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve('refused');
      // It crashed during the request, or is suspended.
      if (!response.headersSent) response.writeHead(502).end();
      resolve('answered');
    });
    forwarded.end(body);
  });
}
