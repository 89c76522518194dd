import { setTimeout as delay } from 'node:timers/promises';
import { MediaError } from './errors.ts';
import { fromTransport, type MediaRequest, type MediaResponse, send } from './request.ts';

/** How often one body is taken up again after its connection broke, and how long to wait before. */
const maximumResumes = 4;
const resumeDelayMs = 200;

interface BodyOptions {
  first: MediaResponse;
  request: MediaRequest;
  maximumBytes: number;
}

/**
 * The bytes of a response, counted against `maximumBytes` whatever was declared. When the connection breaks and
 * the server vouches for the same bytes (a strong ETag, RFC 9110 13.1.5), the rest is asked for by range;
 * otherwise the failure is thrown. Throws MediaError.
 */
export async function* readBody({
  first,
  request,
  maximumBytes,
}: BodyOptions): AsyncGenerator<Uint8Array, void> {
  const declared = declaredBytes(first);
  if (declared !== undefined && declared > maximumBytes) {
    first.body.destroy();
    throw tooLarge(maximumBytes);
  }
  const entityTag = strongEntityTag(first);
  let next = first;
  let received = 0;
  let resumes = 0;
  for (;;) {
    const response = next;
    try {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        received += chunk.byteLength;
        if (received > maximumBytes) throw tooLarge(maximumBytes);
        yield chunk;
      }
      return;
    } catch (error) {
      const failure = fromTransport(error, request.signal);
      if (!isBroken(failure) || entityTag === undefined || declared === undefined) throw failure;
      if (resumes === maximumResumes) throw failure;
      await pause(resumeDelayMs * 2 ** resumes, request.signal);
      resumes += 1;
      next = await resume({ request, entityTag, from: received, total: declared, failure });
    } finally {
      response.body.destroy();
    }
  }
}

interface ResumeOptions {
  request: MediaRequest;
  entityTag: string;
  from: number;
  total: number;
  /** Thrown when the server no longer has the same bytes. */
  failure: unknown;
}

async function resume({ request, entityTag, from, total, failure }: ResumeOptions): Promise<MediaResponse> {
  const headers = { ...request.headers, range: `bytes=${from}-`, 'if-range': entityTag };
  const response = await send({ ...request, headers });
  const range = response.headers['content-range'];
  if (response.status === 206 && range === `bytes ${from}-${total - 1}/${total}`) return response;
  response.body.destroy();
  throw failure;
}

function isBroken(failure: unknown): boolean {
  return failure instanceof MediaError && failure.code === 'network';
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch (error) {
    throw fromTransport(error, signal);
  }
}

/** The length that the server declares for the whole body, if it declares one that makes sense. */
export function declaredBytes(response: MediaResponse): number | undefined {
  const text = response.headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function strongEntityTag(response: MediaResponse): string | undefined {
  const tag = response.headers.etag;
  return tag?.startsWith('"') && response.headers['accept-ranges'] !== 'none' ? tag : undefined;
}

function tooLarge(maximumBytes: number): MediaError {
  return new MediaError('too-large', `Larger than the ${maximumBytes} bytes that are allowed`);
}
