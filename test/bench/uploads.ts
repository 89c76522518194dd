/** P10: files from the gateway to the platform. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type BenchRow, type Comparison, type Extent, figuresInAlternation } from './measure.ts';
import { runProgram, startProgram } from './program.ts';

const FILE_BYTES = 8_000_000;
const MOST_MB = 180;

const told = z.object({
  mbPerSecond: z.number(),
  cpuSeconds: z.number(),
  peakMb: z.number(),
  files: z.number(),
});

async function measureUploads({ short }: Extent): Promise<Comparison[]> {
  const files = short ? 10 : 20;
  const bytes = FILE_BYTES;
  await using server = await startProgram(new URL('./uploads-server.ts', import.meta.url), z.url(), {
    input: { bytes },
  });
  let sent = 0;
  const run = async (candidate: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
    try {
      const input = { candidate, url: server.told, folder, files, bytes };
      const figures = await runProgram(new URL('./uploads-run.ts', import.meta.url), told, { input });
      sent += figures.files;
      const came = await server.ask('', z.int());
      if (came !== sent) throw new Error(`${candidate}: ${came} files came of ${sent}`);
      return figures;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const found = await figuresInAlternation(short ? 1 : 5, {
    product: () => run('product'),
    bare: () => run('bare'),
    kept: () => run('bare kept'),
  });
  const what = `${files} files of 8 MB`;
  const peer = 'undici to multipart, streamed';
  const kept = 'the same, hashed and flushed to the disk first';
  const { product, bare } = found;
  return [
    {
      what: `${what}, a second`,
      unit: 'MB',
      product: product.mbPerSecond,
      peer,
      theirs: bare.mbPerSecond,
      goal: { atLeast: 0.6 },
    },
    {
      what: `${what}, a second`,
      unit: 'MB',
      product: product.mbPerSecond,
      peer: kept,
      theirs: found.kept.mbPerSecond,
    },
    {
      what: `${what}, memory at its peak`,
      unit: 'MB',
      product: product.peakMb,
      peer: `limit (${peer}: ${bare.peakMb.toFixed(0)})`,
      theirs: MOST_MB,
      goal: { atMost: 1 },
    },
    {
      what,
      unit: 'CPU s',
      product: product.cpuSeconds,
      peer,
      theirs: bare.cpuSeconds,
      goal: { atMost: 2 },
    },
    {
      what,
      unit: 'CPU s',
      product: product.cpuSeconds,
      peer: kept,
      theirs: found.kept.cpuSeconds,
    },
  ];
}

export const uploadsRow: BenchRow = {
  id: 'p10',
  title: 'Files from the gateway to the platform',
  measure: measureUploads,
};
