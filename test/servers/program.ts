/** What every program that a test starts as a process of its own has in its environment. */
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
