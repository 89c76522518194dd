/** The thread that {@link audioSeconds} starts for one file. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseBuffer } from 'music-metadata';

// Sound: audioSeconds gives it.
const { content, contentType } = workerData as { content: Uint8Array; contentType: string };

const { format } = await parseBuffer(
  content,
  { mimeType: contentType, size: content.byteLength },
  { duration: true, skipCovers: true },
);
parentPort?.postMessage({ seconds: format.duration });
