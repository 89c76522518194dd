/** The environment of worker threads. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * No setting and no secret: only where Node keeps what it compiled, if this thread does so. A thread does not inherit that, and
 * starts in half of the time with it. https://nodejs.org/api/module.html#module-compile-cache
 */
export function threadEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node makes a folder for each of its versions in there.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
