/** A process of its own that opens the same data, to be killed at will. */
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
 * `hang`: handles and never ends. `write`: writes as fast as it can and says what was acknowledged. `accept`: accepts the
 * same events as every other replica, once the setting `go` is there, each under a limit of one. `wait`: calls many things at
 * a time until Redis was away and is back, and says what Node warns of.
 */
export type ReplicaTask = 'hang' | 'write' | 'accept' | 'wait' | 'open';

/** Events that `accept` takes. */
export const EVENTS = 100;

export interface Replica {
  /** What it said so far, line by line. */
  readonly lines: readonly string[];
  said(line: string): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
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
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return {
    lines,
    said: (line) => expect.poll(() => [...lines, `Its standard error: ${complaint}`]).toContain(line),
    kill: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await gone;
    },
  };
}
