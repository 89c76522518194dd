/** The thread that the encoder starts for one song: MP3 on its standard input, Opus packets on its standard output. */
import { once } from 'node:events';
import { workerData } from 'node:worker_threads';
import { encodeOpus } from './encode.ts';

// Sound: createOpusEncoder gives it.
const { mostSeconds } = workerData as { mostSeconds: number };

for await (const packet of encodeOpus(process.stdin, mostSeconds))
  if (!process.stdout.write(packet)) await once(process.stdout, 'drain');
