/** The thread that {@link encodeInThread} starts for one song. */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { encodeOpus } from './encode.ts';

const { content, mostSeconds } = z
  .object({ content: z.instanceof(Uint8Array), mostSeconds: z.number() })
  .parse(workerData);

const opus = new Uint8Array(await encodeOpus(content, mostSeconds));
parentPort?.postMessage({ opus }, [opus.buffer]);
