/** A separate process on the same data, which tests can kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PROGRAM_ENVIRONMENT } from '../../servers/program.ts';

export type StorageLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string; readonly leaseMs: number };

/**
 * `hang`: runs handlers that never end. `write`: writes as fast as it can and prints acknowledged writes. `accept`: accepts the same
 * events as every other replica when the setting `go` exists, each with a limit of one. `wait`: makes many calls at once during an
 * outage of Redis, and prints warnings of Node.
 */
export type ReplicaTask = 'hang' | 'write' | 'accept' | 'wait' | 'open';

/** The number of events for `accept`. */
export const EVENTS = 100;

export interface Replica {
  /** The lines of its output so far. */
  readonly lines: readonly string[];
  waitForLine(line: string): Promise<void>;
  /** Sends SIGKILL. Resolves when it has exited. */
  kill(): Promise<void>;
}

export async function startReplica(location: StorageLocation, task: ReplicaTask): Promise<Replica> {
  const program = fileURLToPath(new URL('./replica.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(location), task], {
    env: PROGRAM_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  let errorOutput = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput += chunk.toString();
  });
  return {
    lines,
    waitForLine: (line) =>
      expect.poll(() => [...lines, `Its standard error: ${errorOutput}`]).toContain(line),
    kill: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await gone;
    },
  };
}
