/** Where a run of the tests keeps its files: in memory, where the machine has enough of it. */
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';

const MEMORY = '/dev/shm';
/** Those who run at the same time keep some hundred megabytes at most. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Before the first test: thousands of commits then wait for no disk. The function that it resolves to clears up. */
export default async function useMemory(): Promise<(() => Promise<void>) | undefined> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < ENOUGH_BYTES) return undefined;
  const folder = await mkdtemp(`${MEMORY}/minstrel-tests-`);
  // Programs that a test starts as another user find their own folder in it.
  await chmod(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
