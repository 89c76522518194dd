/** The port of stores for kept files, and the temporary files before one. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { KeptFile } from '../../core/message.ts';
import type { ByteRange } from '../../core/web/files.ts';
import { contentTypeOf, type MediaType } from '../content/types.ts';
import { fromFileSystem, tooLarge } from '../errors.ts';

export interface OpenedFile {
  readonly stream: Readable;
  /** Of the whole file, also when a range was asked for. */
  readonly bytes: number;
  readonly contentType: string;
}

interface PruneReport {
  readonly removed: number;
  readonly removedBytes: number;
}

/**
 * Where files are kept. Every method throws MediaError (`disk-full`, `store`) when the folder or bucket cannot be used.
 * A name that is not one (a path, another program's file) is treated as one that is not kept.
 */
export interface MediaStore {
  /**
   * Keeps the bytes of `source` whole or not at all. The same content is kept once; keeping it again renews its age. Errors of the source are thrown as they are.
   */
  put(source: AsyncIterable<Uint8Array>, hint: Pick<MediaType, 'extension'>): Promise<KeptFile>;
  /** Throws RangeError for a range that does not lie within the file. */
  open(name: string, range?: ByteRange): Promise<OpenedFile | undefined>;
  stat(name: string): Promise<KeptFile | undefined>;
  remove(name: string): Promise<void>;
  /** Removes what is older than the retention, then the oldest until the quota holds. */
  prune(): Promise<PruneReport>;
  close(): Promise<void>;
}

/** Bounds that operators set; absent means unbounded. */
export interface RetentionOptions {
  readonly quotaBytes?: number;
  readonly retentionMs?: number;
}

const STORED_NAME = /^[0-9a-f]{64}\.[a-z0-9]{1,8}$/;

/** Whether a string can be the name of a stored file; nothing else ever reaches a disk or a bucket. */
export function isStoredName(name: string): boolean {
  return STORED_NAME.test(name);
}

function storedNameOf(sha256: string, extension: string): string {
  const name = `${sha256}.${extension.toLowerCase()}`;
  if (!isStoredName(name)) throw new TypeError(`Not a valid file extension: ${extension}`);
  return name;
}

/** Throws RangeError unless the range lies within a file of that many bytes; resolves an open end. */
export function resolveRange(range: ByteRange, bytes: number): Required<ByteRange> {
  const end = Math.min(range.end ?? bytes - 1, bytes - 1);
  if (range.start < 0 || range.start > end) throw new RangeError('The range is outside the file');
  return { start: range.start, end };
}

export interface KeptEntry {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly keptAt: number;
}

/**
 * Removes files, oldest first, until retention and quota hold. `remove` resolves to false where the file was kept again
 * meanwhile. A file that cannot be removed does not protect the next one; its error is thrown in the end.
 */
export async function removeExpendable(
  found: readonly KeptEntry[],
  { quotaBytes = Infinity, retentionMs = Infinity, now }: RetentionOptions & { now: () => number },
  remove: (entry: KeptEntry) => Promise<boolean>,
): Promise<PruneReport> {
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const report = { removed: 0, removedBytes: 0 };
  const failures: unknown[] = [];
  for (const entry of found.toSorted((one, other) => one.keptAt - other.keptAt)) {
    if (now() - entry.keptAt <= retentionMs && total <= quotaBytes) break;
    const removed = await remove(entry).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
    if (!removed) continue;
    total -= entry.bytes;
    report.removed += 1;
    report.removedBytes += entry.bytes;
  }
  if (failures.length > 0) throw failures[0];
  return report;
}

interface StagingOptions extends Pick<MediaType, 'extension'> {
  readonly directory: string;
  /** More than this is refused with MediaError `too-large`. */
  readonly maximumBytes?: number | undefined;
  /** Opens the temporary file; replaced in tests. */
  readonly openForWriting?: ((path: string) => Writable) | undefined;
}

/** A file being written for longer than this was left behind by a process that died. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Writes a source to a temporary file, flushed to the disk, and hashes it meanwhile. `keep` moves or copies it to its
 * name; afterwards the temporary file is gone. Throws MediaError and what the source or `keep` throws.
 */
export async function stage(
  source: AsyncIterable<Uint8Array>,
  { directory, extension, maximumBytes = Infinity, openForWriting = openExclusively }: StagingOptions,
  keep: (path: string, file: KeptFile) => Promise<unknown>,
): Promise<KeptFile> {
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
          if (bytes > maximumBytes) throw tooLarge(maximumBytes);
          hash.update(chunk);
          yield chunk;
        }
      },
      file,
    );
    const name = storedNameOf(hash.digest('hex'), extension);
    const kept = { name, bytes, contentType: contentTypeOf(name) };
    await keep(path, kept);
    return kept;
  } catch (error) {
    // A file that is still being opened would appear after it was removed.
    if (file) await closed(file);
    throw fromFileSystem(error);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

/** `once` would reject with the very error that closes the stream. */
function closed(file: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (file.closed) resolve();
    else file.once('close', () => resolve());
  });
}

/** Removes the temporary files that a process left behind when it died. */
export async function removeAbandoned(directory: string, now: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() && now - found.mtimeMs > ABANDONED_AFTER_MS)
      await rm(path, { force: true }).catch(() => undefined);
  }
}

function openExclusively(path: string): Writable {
  return createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
}
