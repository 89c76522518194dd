/** What every program that a test starts as a process of its own has in its environment. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * No setting of this machine, and a folder where Node keeps what it compiled: the next process starts with half of the work.
 * A process that is killed leaves nothing there. https://nodejs.org/api/module.html#module-compile-cache
 */
export const PROGRAM_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/node-compile', import.meta.url)),
} as const satisfies Record<string, string>;

/** What is waited for; rejects when the program ends, which has nothing more to say. */
export async function whileRuns<Value>(program: ChildProcess, awaited: Promise<Value>): Promise<Value> {
  const settled = new AbortController();
  const ended = once(program, 'exit', { signal: settled.signal }).then(([code, signal]) => {
    throw new Error(`The program ended with ${code ?? signal}`);
  });
  try {
    return await Promise.race([awaited, ended]);
  } finally {
    settled.abort();
  }
}
