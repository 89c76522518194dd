import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { S3mini, S3ServiceError } from 's3mini';
import { Agent, fetch as undiciFetch } from 'undici';
import type { System } from '../../core/system.ts';
import { backoff } from '../../core/util/backoff.ts';
import { present } from '../../core/util/present.ts';
import type { ByteRange } from '../../core/web/files.ts';
import { contentTypeOf } from '../content/types.ts';
import { MediaError } from '../errors.ts';
import {
  isStoredName,
  type MediaStore,
  type RetentionOptions,
  removeAbandoned,
  removeOldest,
  resolveRange,
  type StoredEntry,
  stage,
} from './media-store.ts';

export interface S3StoreOptions extends RetentionOptions, Pick<System, 'now' | 'random' | 'sleep'> {
  /** The service's address without the bucket and without a trailing slash: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Prefix of every key, such as `minstrel/`. May be empty. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A local folder for unfinished files, because the name depends on the hash of all bytes. */
  readonly stagingDirectory: string;
  /** For a connection, a response, or its next bytes. */
  readonly idleTimeoutMs?: number;
}

const MAXIMUM_ATTEMPTS = 3;
const PAUSES = { firstMs: 200, longestMs: 10_000 } as const;

/** Stores files in a bucket of any S3-compatible service, addressed by path. */
export function createS3Store(options: S3StoreOptions): MediaStore {
  const { prefix, stagingDirectory, quotaBytes, now, random, sleep, idleTimeoutMs = 30_000 } = options;
  const closing = new AbortController();
  const agent = new Agent({
    connect: { timeout: idleTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  const bucket = new S3mini({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    endpoint: `${options.endpoint}/${options.bucket}`,
    region: options.region,
    fetch: fetchThrough(agent),
  });
  const keyOf = (name: string) => `${prefix}${name}`;

  /** Retries any request, because a key always has the same bytes. */
  async function request<Result>(send: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        const status = statusOf(error);
        if (attempt === MAXIMUM_ATTEMPTS || (status !== undefined && status < 500 && status !== 429)) {
          throw fromBucket(error);
        }
        await sleep(backoff({ ...PAUSES, attempt, random }), closing.signal);
      }
    }
  }

  const removeObject = (name: string) => request(() => bucket.deleteObject(keyOf(name)));

  async function list(start = prefix): Promise<StoredEntry[]> {
    const objects = await request(() => bucket.listObjects('/', start));
    if (objects === null) throw new MediaError('store', `The bucket ${options.bucket} does not exist`);
    return objects
      .map(({ Key, Size, LastModified }) => ({
        name: Key.slice(prefix.length),
        // Declared as numbers and dates, but the values are strings from XML.
        bytes: Number(Size),
        storedAt: new Date(LastModified).getTime(),
      }))
      .filter(({ name }) => isStoredName(name));
  }

  /** The list is minutes old, and another replica may have stored the file again. */
  async function removeIfUnchanged({ name, storedAt }: StoredEntry): Promise<boolean> {
    const [newest] = await list(keyOf(name));
    if (newest && newest.storedAt > storedAt) return false;
    await removeObject(name);
    return true;
  }

  return {
    put: (source, { extension }) =>
      stage(
        source,
        { directory: stagingDirectory, extension, maximumBytes: quotaBytes },
        (path, { name, bytes, contentType }) =>
          request(async () => {
            const file = bytes === 0 ? undefined : createReadStream(path);
            try {
              // Not a Blob, which fetch reads into memory faster than it sends.
              const body = file ? Readable.toWeb(file) : '';
              return await bucket.putObject(keyOf(name), body, contentType, undefined, undefined, bytes);
            } finally {
              file?.destroy();
            }
          }),
      ),

    async open(name, range) {
      if (!isStoredName(name)) return undefined;
      const end = range?.end === undefined ? undefined : range.end + 1;
      const response = await request(() =>
        bucket.getObjectRaw(keyOf(name), range === undefined, range?.start, end),
      ).catch((error: unknown) => {
        if (statusOf(error) === 416) throw new RangeError('The range is outside the file');
        return undefinedWhenMissing(error);
      });
      if (response?.body == null) return undefined;
      const bytes = wholeLength(response.headers);
      try {
        checkPart(response.status, range, bytes);
      } catch (error) {
        await response.body.cancel();
        throw error;
      }
      return { stream: readableOf(response.body), bytes, contentType: contentTypeOf(name) };
    },

    async stat(name) {
      if (!isStoredName(name)) return undefined;
      const bytes = await request(() => bucket.getContentLength(keyOf(name))).catch(undefinedWhenMissing);
      return bytes === undefined ? undefined : { name, bytes, contentType: contentTypeOf(name) };
    },

    async remove(name) {
      if (isStoredName(name)) await removeObject(name);
    },

    async prune() {
      await removeAbandoned(stagingDirectory, now());
      return removeOldest(await list(), options, removeIfUnchanged);
    },

    close() {
      closing.abort();
      return agent.destroy();
    },
  };
}

/** s3mini's timeout would interrupt long downloads; the agent's timeouts count idle time. */
function fetchThrough(dispatcher: Agent): typeof fetch {
  const through = (url: string, init: Parameters<typeof undiciFetch>[1]) =>
    undiciFetch(url, { ...init, dispatcher, duplex: 'half' });
  // The types of undici and of Node's bundled copy are equal but unrelated.
  return through as unknown as typeof fetch;
}

/** Returns the HTTP status of an error. s3mini wraps some of its errors. */
function statusOf(error: unknown): number | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof S3ServiceError) return current.status;
  }
  return undefined;
}

function fromBucket(error: unknown): MediaError {
  const status = statusOf(error);
  const details = { cause: error, ...present({ status }) };
  if (status === 507) return new MediaError('disk-full', 'No space left in the bucket', details);
  const reason = status === undefined ? 'cannot be reached' : `responded with ${status}`;
  return new MediaError('store', `The media bucket ${reason}`, details);
}

function undefinedWhenMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}

/** A service without support for ranges returns the whole file. Throws MediaError unless the range was the whole file. */
function checkPart(status: number, range: ByteRange | undefined, bytes: number): void {
  if (range === undefined) return;
  const { start, end } = resolveRange(range, bytes);
  if (status !== 206 && (start !== 0 || end !== bytes - 1)) {
    throw new MediaError('store', 'The media bucket does not support range requests', { retryable: false });
  }
}

/** From `Content-Range: bytes 0-9/1000` or, for a whole answer, `Content-Length`. */
function wholeLength(headers: Headers): number {
  return Number(headers.get('content-range')?.split('/')[1] ?? headers.get('content-length'));
}

/** Converts a body to a stream that frees its connection when it is destroyed, even before the first read. */
function readableOf(body: NonNullable<Response['body']>): Readable {
  const reader = body.getReader();
  return new Readable({
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(fromBucket(error)),
      );
    },
    destroy(error, callback) {
      reader.cancel().catch(() => undefined);
      callback(error);
    },
  });
}
