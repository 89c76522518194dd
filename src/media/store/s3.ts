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
  type KeptEntry,
  type MediaStore,
  type RetentionOptions,
  removeAbandoned,
  removeExpendable,
  resolveRange,
  stage,
} from './media-store.ts';

export interface S3StoreOptions extends RetentionOptions, Pick<System, 'now' | 'random' | 'sleep'> {
  /** The service's own address, without the bucket and a slash at its end: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Before every key, such as `minstrel/`; may be empty. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A local folder for files that are being written: a name is known only when the last byte has been hashed. */
  readonly stagingDirectory: string;
  /** For a connection, an answer, or the next bytes of one. */
  readonly idleTimeoutMs?: number;
}

const MAXIMUM_ATTEMPTS = 3;
const PAUSES = { firstMs: 200, longestMs: 10_000 } as const;

/**
 * Keeps files in a bucket of any S3-compatible service, addressed by path.
 */
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

  /** Every request is safe to repeat: the same key always holds the same bytes. */
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

  async function list(start = prefix): Promise<KeptEntry[]> {
    const objects = await request(() => bucket.listObjects('/', start));
    if (objects === null) throw new MediaError('store', `The bucket ${options.bucket} does not exist`);
    return objects
      .map(({ Key, Size, LastModified }) => ({
        name: Key.slice(prefix.length),
        // The declared types are numbers and dates; the values come out of the service's XML.
        bytes: Number(Size),
        keptAt: new Date(LastModified).getTime(),
      }))
      .filter(({ name }) => isStoredName(name));
  }

  /** The list is minutes old by then, and another replica may have kept the file anew. */
  async function removeIfAsOld({ name, keptAt }: KeptEntry): Promise<boolean> {
    const [newest] = await list(keyOf(name));
    if (newest && newest.keptAt > keptAt) return false;
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
              // Not as a Blob, which fetch reads faster than it can send.
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
      return removeExpendable(await list(), options, removeIfAsOld);
    },

    close() {
      closing.abort();
      return agent.destroy();
    },
  };
}

/** s3mini's own time limit would cut off long downloads; the agent's count idle time. */
function fetchThrough(dispatcher: Agent): typeof fetch {
  const through = (url: string, init: Parameters<typeof undiciFetch>[1]) =>
    undiciFetch(url, { ...init, dispatcher, duplex: 'half' });
  // undici's declarations and the ones Node bundles describe the same functions and do not know of each other.
  return through as unknown as typeof fetch;
}

/** The HTTP status behind an error; s3mini wraps some of its own errors once more. */
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

/** A service that does not know ranges answers with the whole file, which is only right if that was asked for. */
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

/** Destroyed, even before it was read, it gives its connection back at once. */
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
