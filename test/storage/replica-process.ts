/** A process of its own that opens the same data, to be killed at will. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';

export type ReplicaPlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string; readonly leaseMs: number };

/** `hang`: handles and never ends. `write`: writes as fast as it can and says what was acknowledged. */
export type ReplicaTask = 'hang' | 'write' | 'open';

export interface Replica {
  /** What it said so far, line by line. */
  readonly lines: readonly string[];
  said(line: string): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export async function startReplica(place: ReplicaPlace, task: ReplicaTask): Promise<Replica> {
  const program = fileURLToPath(new URL('./replica.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(place), task], {
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
    said: (line) =>
      vi.waitFor(
        () => {
          expect(lines, `The replica said: ${complaint}`).toContain(line);
        },
        { timeout: 15_000, interval: 10 },
      ),
    kill: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await gone;
    },
  };
}
