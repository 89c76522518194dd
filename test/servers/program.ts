/** The environment of programs that tests start as separate processes. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The project's root folder. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** The program behind every npm script for operators. Its first argument names the script. */
export const MINSTREL = fileURLToPath(new URL('../../src/cli/bin.js', import.meta.url));

/**
 * Excludes this machine's settings, and sets Node's compile cache, which halves the start of later processes. Killed
 * processes do not write to the cache. https://nodejs.org/api/module.html#module-compile-cache
 */
export const PROGRAM_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/node-compile', import.meta.url)),
} as const satisfies Record<string, string>;

/** Resolves like `awaited`, but rejects if the program ends first. */
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
