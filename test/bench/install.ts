/** P11: what a production install holds on disk. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { BenchRow, Comparison } from './measure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MEBIBYTE = 1_048_576;
const GOAL_MEBIBYTES = 120;

const lockSchema = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) });

/** Blocks of a folder as `du` counts them, without what other packages have inside it. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : bytesOf(path);
    return (await lstat(path)).blocks * 512;
  });
  const own = entries.length === 0 ? 0 : (await lstat(folder)).blocks * 512;
  return (await Promise.all(sizes)).reduce((all, size) => all + size, own);
}

async function measureInstall(): Promise<Comparison[]> {
  const { packages } = lockSchema.parse(JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')));
  let bytes = 0;
  for (const [path, { dev }] of Object.entries(packages)) {
    // Those of other systems are in the lock, and not on this disk.
    if (path !== '' && dev !== true) bytes += await bytesOf(join(ROOT, path));
  }
  return [
    {
      what: 'npm ci --omit=dev',
      unit: 'MiB on disk',
      product: bytes / MEBIBYTE,
      peer: 'fixed limit',
      theirs: GOAL_MEBIBYTES,
      goal: { atMost: 1 },
    },
  ];
}

export const installRow: BenchRow = { id: 'p11', title: 'The installation', measure: measureInstall };
