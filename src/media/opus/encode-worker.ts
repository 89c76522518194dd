/** The thread that {@link encodeInThread} starts for one song. */
import { parentPort, workerData } from 'node:worker_threads';
import { encodeOpus } from './encode.ts';

// Sound: encodeInThread gives it.
const { content, mostSeconds } = workerData as { content: Uint8Array; mostSeconds: number };

const opus = new Uint8Array(await encodeOpus(content, mostSeconds));
parentPort?.postMessage({ opus }, [opus.buffer]);
