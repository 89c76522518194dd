/** Copies of the checkout, to break something in. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface Copy extends AsyncDisposable {
  readonly folder: string;
}

/** What git knows or would take, as it is now, with the packages of the checkout. */
export async function copyCheckout(): Promise<Copy> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-mutants-'));
  for (const file of stdout.split('\0').filter((name) => name !== '' && name !== 'node_modules')) {
    const to = join(folder, file);
    await mkdir(dirname(to), { recursive: true });
    // One that was deleted is still listed.
    await cp(file, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await symlink(resolve('node_modules'), join(folder, 'node_modules'), 'dir');
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
