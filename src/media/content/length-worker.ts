/** The thread that {@link audioSeconds} starts for one file. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseBuffer } from 'music-metadata';
import { z } from 'zod';

const { content, contentType } = z
  .object({ content: z.instanceof(Uint8Array), contentType: z.string() })
  .parse(workerData);

const { format } = await parseBuffer(
  content,
  { mimeType: contentType, size: content.byteLength },
  { duration: true, skipCovers: true },
);
parentPort?.postMessage({ seconds: format.duration });
