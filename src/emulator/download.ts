import type { EmulatorContext } from './context.ts';

/** A file that could not be fetched. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
}

const timeoutMilliseconds = 30_000;

/**
 * Fetches a client's file over http(s), or reads it from a base64 `data:` URL, up to a number of bytes. Any address is
 * allowed: the emulator serves the person who runs it. Throws DownloadError.
 */
export async function download(
  context: Pick<EmulatorContext, 'fetch' | 'closing'>,
  url: string,
  mostBytes: number,
): Promise<Uint8Array> {
  try {
    const signal = AbortSignal.any([context.closing, AbortSignal.timeout(timeoutMilliseconds)]);
    const response = await context.fetch(url, { signal });
    if (!response.ok) throw new DownloadError(`it answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const chunk of response.body ?? []) {
      total += chunk.length;
      if (total > mostBytes) throw new DownloadError(`it is larger than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
    return Uint8Array.from(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    throw new DownloadError('it cannot be reached', { cause: error });
  }
}
