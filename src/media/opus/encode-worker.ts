/** The encoder's thread, one per song. Reads MP3 from standard input and writes Opus packets to standard output. */
import { once } from 'node:events';
import { workerData } from 'node:worker_threads';
import { encodeOpus } from './encode.ts';

// Safe cast: createOpusEncoder passes this object.
const { maxSeconds } = workerData as { maxSeconds: number };

for await (const packet of encodeOpus(process.stdin, maxSeconds))
  if (!process.stdout.write(packet)) await once(process.stdout, 'drain');
