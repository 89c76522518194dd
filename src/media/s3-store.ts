import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { S3mini, S3ServiceError } from 's3mini';
import { Agent, fetch as undiciFetch } from 'undici';
import { MediaError } from './errors.ts';
import { contentTypeOf } from './kinds.ts';
import { abandonedAfterMs, spool, sweepSpool } from './spool.ts';
import {
  type ByteRange,
  expendable,
  isStoredName,
  type KeptEntry,
  type MediaStore,
  type RetentionOptions,
  resolveRange,
  storedNameOf,
} from './store.ts';

export interface S3StoreOptions extends RetentionOptions {
  /** The service's own address, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  bucket: string;
  /** Before every key, such as `minstrel/`; may be empty. */
  prefix: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** A local folder for files on their way: a name is known only when the last byte has been hashed. */
  spoolDirectory: string;
  now: () => number;
  /** For a connection, an answer, or the next bytes of one. */
  idleTimeoutMs?: number;
  /** Before a request is sent a second time; doubled for the third. */
  retryDelayMs?: number;
}

const maximumAttempts = 3;

/**
 * Keeps files in a bucket of any S3-compatible service, addressed by path. Quota and retention are looked
 * after by `prune` alone: a bucket has no cheap way of telling how full it is.
 */
export function createS3Store(options: S3StoreOptions): MediaStore {
  const { prefix, spoolDirectory, quotaBytes, now, idleTimeoutMs = 30_000, retryDelayMs = 200 } = options;
  const agent = new Agent({
    connect: { timeout: idleTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  const bucket = new S3mini({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    endpoint: `${options.endpoint.replace(/\/$/, '')}/${options.bucket}`,
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
        if (attempt === maximumAttempts || (status !== undefined && status < 500 && status !== 429)) {
          throw fromBucket(error);
        }
        await delay(retryDelayMs * 2 ** (attempt - 1));
      }
    }
  }

  async function list(): Promise<KeptEntry[]> {
    const objects = await request(() => bucket.listObjects('/', prefix));
    if (objects === null) throw new MediaError('store', `There is no bucket ${options.bucket}`);
    return objects
      .map(({ Key, Size, LastModified }) => ({
        name: Key.slice(prefix.length),
        // The declared types promise numbers and dates; the values come out of the service's XML.
        bytes: Number(Size),
        keptAt: new Date(LastModified).getTime(),
      }))
      .filter(({ name }) => isStoredName(name));
  }

  return {
    async put(source, { extension }) {
      const spooled = await spool(source, { directory: spoolDirectory, maximumBytes: quotaBytes });
      try {
        const name = storedNameOf(spooled.sha256, extension);
        const contentType = contentTypeOf(name);
        await request(() => {
          // Not as a Blob, which fetch reads faster than it can send.
          const body = spooled.bytes === 0 ? '' : Readable.toWeb(createReadStream(spooled.path));
          return bucket.putObject(keyOf(name), body, contentType, undefined, undefined, spooled.bytes);
        });
        return { name, bytes: spooled.bytes, contentType };
      } finally {
        await rm(spooled.path, { force: true });
      }
    },

    async open(name, range) {
      if (!isStoredName(name)) return undefined;
      const end = range?.end === undefined ? undefined : range.end + 1;
      const response = await request(() =>
        bucket.getObjectRaw(keyOf(name), range === undefined, range?.start, end),
      ).catch((error: unknown) => {
        if (statusOf(error) === 416) throw new RangeError('The range does not lie within the file');
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
      // The DOM's and Node's declarations of one and the same class differ.
      const body = response.body as AsyncIterable<Uint8Array>;
      return { stream: readableOf(body), bytes, contentType: contentTypeOf(name) };
    },

    async stat(name) {
      if (!isStoredName(name)) return undefined;
      const bytes = await request(() => bucket.getContentLength(keyOf(name))).catch(undefinedWhenMissing);
      return bytes === undefined ? undefined : { name, bytes, contentType: contentTypeOf(name) };
    },

    async remove(name) {
      if (!isStoredName(name)) return;
      await request(() => bucket.deleteObject(keyOf(name)));
    },

    async prune() {
      await sweepSpool(spoolDirectory, abandonedAfterMs, now());
      const leaving = expendable(await list(), options, now());
      for (const { name } of leaving) await request(() => bucket.deleteObject(keyOf(name)));
      return { removed: leaving.length, removedBytes: leaving.reduce((sum, { bytes }) => sum + bytes, 0) };
    },

    async close() {
      await agent.destroy();
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
  const details = { cause: error, ...(status === undefined ? {} : { status }) };
  if (status === 507) return new MediaError('disk-full', 'No room left in the bucket', details);
  const reason = status === undefined ? 'cannot be reached' : `answered ${status}`;
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
    throw new MediaError('store', 'The media bucket gives no parts of files', { retryable: false });
  }
}

/** From `Content-Range: bytes 0-9/1000` or, for a whole answer, `Content-Length`. */
function wholeLength(headers: Headers): number {
  return Number(headers.get('content-range')?.split('/')[1] ?? headers.get('content-length'));
}

function readableOf(body: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(
    (async function* () {
      try {
        yield* body;
      } catch (error) {
        throw fromBucket(error);
      }
    })(),
    { objectMode: false },
  );
}
