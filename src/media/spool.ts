import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fromFileSystem, MediaError } from './errors.ts';

export interface SpooledFile {
  path: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

export interface SpoolOptions {
  directory: string;
  /** More than this is refused with MediaError `too-large`. */
  maximumBytes?: number | undefined;
  /** Opens the temporary file; replaced in tests. */
  openForWriting?: ((path: string) => Writable) | undefined;
}

/** A file being written for longer than this was left behind by a process that died. */
export const abandonedAfterMs = 24 * 60 * 60 * 1000;

/**
 * Writes a source to a temporary file, flushed to the disk, and hashes it on the way. On any failure the
 * file is gone again. The caller moves or removes the file.
 */
export async function spool(source: AsyncIterable<Uint8Array>, options: SpoolOptions): Promise<SpooledFile> {
  const { directory, maximumBytes = Number.POSITIVE_INFINITY, openForWriting = openExclusively } = options;
  const path = join(directory, randomUUID());
  const hash = createHash('sha256');
  let bytes = 0;
  let file: Writable | undefined;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    file = openForWriting(path);
    await pipeline(
      source,
      async function* measure(chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          bytes += chunk.byteLength;
          if (bytes > maximumBytes) {
            throw new MediaError('too-large', `Larger than the ${maximumBytes} bytes there is room for`);
          }
          hash.update(chunk);
          yield chunk;
        }
      },
      file,
    );
    return { path, bytes, sha256: hash.digest('hex') };
  } catch (error) {
    // A file whose opening is still under way would appear after it was removed.
    if (file) await closed(file);
    await rm(path, { force: true }).catch(() => undefined);
    throw fromFileSystem(error);
  }
}

/** `once` would reject with the very error that closes the stream. */
function closed(file: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (file.closed) resolve();
    else file.once('close', () => resolve());
  });
}

/** Removes what a process that died left behind: temporary files untouched for `olderThanMs`. */
export async function sweepSpool(directory: string, olderThanMs: number, now: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() && now - found.mtimeMs > olderThanMs)
      await rm(path, { force: true }).catch(() => undefined);
  }
}

function openExclusively(path: string): Writable {
  return createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
}
