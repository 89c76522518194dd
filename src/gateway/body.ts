import type { Deadline } from './deadline.ts';
import type { FetchedBody } from './options.ts';

export interface ReadBody {
  text: string;
  /** Longer than the bound: `text` is its beginning. */
  tooLong: boolean;
  /** The body broke off: `text` is its beginning. */
  failure?: unknown;
}

/** Reads a body up to a bound in bytes, and gives the rest up. Never throws. */
export async function readBody(
  body: FetchedBody | null,
  maxBytes: number,
  deadline: Pick<Deadline, 'race'>,
): Promise<ReadBody> {
  if (body === null) return { text: '', tooLong: false };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const soFar = () => new TextDecoder().decode(Buffer.concat(chunks));
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await deadline.race(reader.read());
      if (done || value === undefined) return { text: soFar(), tooLong: false };
      const room = maxBytes - size;
      if (value.byteLength > room) {
        chunks.push(value.subarray(0, room));
        giveUp(reader);
        return { text: soFar(), tooLong: true };
      }
      size += value.byteLength;
      chunks.push(value);
    }
  } catch (failure) {
    giveUp(reader);
    return { text: soFar(), tooLong: false, failure };
  }
}

/** Frees the connection; how that goes is of no interest. */
export function giveUp(reader: { cancel(): Promise<void> }): void {
  reader.cancel().catch(() => undefined);
}
