/** The thread that {@link audioSeconds} starts for one file. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseStream } from 'music-metadata';

// Sound: audioSeconds gives it.
const { contentType } = workerData as { contentType: string };

// Without the file's size, the frames of an MP3 are counted: by size, a variable bitrate that begins evenly would be misjudged.
const { format } = await parseStream(
  process.stdin,
  { mimeType: contentType },
  { duration: true, skipCovers: true },
);
parentPort?.postMessage({ seconds: format.duration });
