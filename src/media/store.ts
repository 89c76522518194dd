import type { Readable } from 'node:stream';
import type { MediaType } from './kinds.ts';

export interface StoredFile {
  /** The SHA-256 of the content in hex, a dot and the extension: the key, the same for the same content. */
  name: string;
  bytes: number;
  contentType: string;
}

/** Byte positions, both inclusive, as in HTTP. Without `end`, to the end of the file. */
export interface ByteRange {
  start: number;
  end?: number;
}

export interface OpenedFile {
  stream: Readable;
  /** Of the whole file, also when a range was asked for. */
  bytes: number;
  contentType: string;
}

export interface PruneReport {
  removed: number;
  removedBytes: number;
}

/**
 * Where files are kept. Every method throws MediaError (`disk-full`, `store`) when the place cannot be used.
 * A name that is not one (a path, another program's file) is treated as one that is not kept.
 */
export interface MediaStore {
  /**
   * Keeps the bytes of `source` whole or not at all. The same content is kept once; keeping it again makes it
   * young again. Errors of the source are thrown as they are.
   */
  put(source: AsyncIterable<Uint8Array>, hint: Pick<MediaType, 'extension'>): Promise<StoredFile>;
  /** Throws RangeError for a range that does not lie within the file. */
  open(name: string, range?: ByteRange): Promise<OpenedFile | undefined>;
  stat(name: string): Promise<StoredFile | undefined>;
  remove(name: string): Promise<void>;
  /** Removes what is older than the retention, then the oldest until the quota holds. */
  prune(): Promise<PruneReport>;
  close(): Promise<void>;
}

/** Bounds that operators set; absent means unbounded. */
export interface RetentionOptions {
  quotaBytes?: number;
  retentionMs?: number;
}

const storedName = /^[0-9a-f]{64}\.[a-z0-9]{1,8}$/;

/** Whether a string can be the name of a stored file; nothing else ever reaches a disk or a bucket. */
export function isStoredName(name: string): boolean {
  return storedName.test(name);
}

export function storedNameOf(sha256: string, extension: string): string {
  const name = `${sha256}.${extension.toLowerCase()}`;
  if (!isStoredName(name)) throw new TypeError(`Not an extension for a stored file: ${extension}`);
  return name;
}

/** Throws RangeError unless the range lies within a file of that many bytes; resolves an open end. */
export function resolveRange(range: ByteRange, bytes: number): Required<ByteRange> {
  const end = Math.min(range.end ?? bytes - 1, bytes - 1);
  if (range.start < 0 || range.start > end) throw new RangeError('The range does not lie within the file');
  return { start: range.start, end };
}

export interface KeptEntry {
  name: string;
  bytes: number;
  /** Milliseconds since the epoch. */
  keptAt: number;
}

/** Which files must go, oldest first, so that retention and quota hold. `spare` stays whatever its age. */
export function expendable(
  entries: Iterable<KeptEntry>,
  { quotaBytes = Number.POSITIVE_INFINITY, retentionMs = Number.POSITIVE_INFINITY }: RetentionOptions,
  now: number,
  spare?: string,
): KeptEntry[] {
  const oldestFirst = [...entries].sort((left, right) => left.keptAt - right.keptAt);
  let total = oldestFirst.reduce((sum, { bytes }) => sum + bytes, 0);
  return oldestFirst.filter(({ name, bytes, keptAt }) => {
    const leaves = name !== spare && (now - keptAt > retentionMs || total > quotaBytes);
    if (leaves) total -= bytes;
    return leaves;
  });
}
