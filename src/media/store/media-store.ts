/** The interface of media stores, and their temporary files. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MediaFile } from '../../core/message.ts';
import type { ByteRange } from '../../core/web/files.ts';
import { contentTypeOf, type MediaType } from '../content/types.ts';
import { fromFileSystem, tooLarge } from '../errors.ts';

export interface OpenedFile {
  readonly stream: Readable;
  /** The size of the whole file, even for a range. */
  readonly bytes: number;
  readonly contentType: string;
}

interface PruneReport {
  readonly removed: number;
  readonly removedBytes: number;
  /** Bytes of the files that are left. */
  readonly storedBytes: number;
}

/**
 * A store of files. Every method throws MediaError (`disk-full`, `store`) if the folder or bucket cannot be used. Invalid
 * names, such as paths, count as missing files.
 */
export interface MediaStore {
  /**
   * Stores all bytes of `source` or nothing. The same content is stored once; storing it again renews its age. Throws errors
   * of the source unchanged.
   */
  put(source: AsyncIterable<Uint8Array>, hint: Pick<MediaType, 'extension'>): Promise<MediaFile>;
  /** Throws RangeError for a range outside the file. */
  open(name: string, range?: ByteRange): Promise<OpenedFile | undefined>;
  stat(name: string): Promise<MediaFile | undefined>;
  remove(name: string): Promise<void>;
  /** Deletes files older than the retention, then the oldest ones until the quota is met. */
  prune(): Promise<PruneReport>;
  close(): Promise<void>;
}

/** Limits that operators set. Unlimited if absent. */
export interface RetentionOptions {
  readonly quotaBytes?: number;
  readonly retentionMs?: number;
}

const STORED_NAME = /^[0-9a-f]{64}\.[a-z0-9]{1,8}$/;

/** True for a valid name of a stored file. No other name reaches a disk or a bucket. */
export function isStoredName(name: string): boolean {
  return STORED_NAME.test(name);
}

export function storedNameOf(sha256: string, extension: string): string {
  const name = `${sha256}.${extension.toLowerCase()}`;
  if (!isStoredName(name)) throw new TypeError(`Not a valid file extension: ${extension}`);
  return name;
}

/** Resolves an open end. Throws RangeError if the range is outside a file of this size. */
export function resolveRange(range: ByteRange, bytes: number): Required<ByteRange> {
  const end = Math.min(range.end ?? bytes - 1, bytes - 1);
  if (range.start < 0 || range.start > end) throw new RangeError('The range is outside the file');
  return { start: range.start, end };
}

export interface StoredEntry {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

/**
 * Deletes files, oldest first, until retention and quota are met. `remove` resolves to false if the file was stored again
 * meanwhile. If a file cannot be deleted, continues with the next one and throws the error at the end.
 */
export async function removeOldest(
  found: readonly StoredEntry[],
  { quotaBytes = Infinity, retentionMs = Infinity, now }: RetentionOptions & { now: () => number },
  remove: (entry: StoredEntry) => Promise<boolean>,
): Promise<PruneReport> {
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const report = { removed: 0, removedBytes: 0 };
  const failures: unknown[] = [];
  for (const entry of found.toSorted((a, b) => a.storedAt - b.storedAt)) {
    if (now() - entry.storedAt <= retentionMs && total <= quotaBytes) break;
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
  return { ...report, storedBytes: total };
}

interface StagingOptions extends Pick<MediaType, 'extension'> {
  readonly directory: string;
  /** Larger sources throw MediaError `too-large`. */
  readonly maximumBytes?: number | undefined;
  /** Opens the temporary file; replaced in tests. */
  readonly openForWriting?: ((path: string) => Writable) | undefined;
}

/** Older temporary files are from a process that died. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Writes a source to a temporary file, flushes and hashes it. `keep` moves or copies it to its name, and then the temporary
 * file is deleted. Throws MediaError, and errors of the source and of `keep`.
 */
export async function stage(
  source: AsyncIterable<Uint8Array>,
  { directory, extension, maximumBytes = Infinity, openForWriting = openExclusively }: StagingOptions,
  keep: (path: string, file: MediaFile) => Promise<unknown>,
): Promise<MediaFile> {
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
    const stored = { name, bytes, contentType: contentTypeOf(name) };
    await keep(path, stored);
    return stored;
  } catch (error) {
    // Wait, because a file that is still being opened would appear after its removal.
    if (file) await waitForClose(file);
    throw fromFileSystem(error);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

/** `once` would reject with the error that closes the stream. */
function waitForClose(file: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (file.closed) resolve();
    else file.once('close', () => resolve());
  });
}

/** Deletes temporary files of processes that died. */
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
