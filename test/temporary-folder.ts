/** Puts the tests' temporary files in memory if the machine has enough. */
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';

const MEMORY = '/dev/shm';
/** Concurrent runs use a few hundred megabytes at most. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Runs before the first test, so that commits never wait for a disk. Resolves to the cleanup function. */
export default async function useMemory(): Promise<(() => Promise<void>) | undefined> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < ENOUGH_BYTES) return undefined;
  const folder = await mkdtemp(`${MEMORY}/minstrel-tests-`);
  // Programs that tests start as another user use a folder inside it.
  await chmod(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
