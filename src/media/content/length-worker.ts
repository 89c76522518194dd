/** The thread of {@link audioSeconds}, one per file. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseStream } from 'music-metadata';

// Safe cast: audioSeconds passes this object.
const { contentType } = workerData as { contentType: string };

// Without the file's size, the reader counts MP3 frames. With it, a variable bitrate that starts constant gives a wrong length.
const { format } = await parseStream(
  process.stdin,
  { mimeType: contentType },
  { duration: true, skipCovers: true },
);
parentPort?.postMessage({ seconds: format.duration });
