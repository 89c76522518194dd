/** Reading what an answer holds. */

/** The part of a response that the gateway reads. */
export type FetchedResponse = Pick<Response, 'status' | 'headers' | 'body'>;

interface BodyText {
  text: string;
  /** Longer than the bound: `text` is its beginning. */
  tooLong: boolean;
  /** The body broke off: `text` is its beginning. */
  failure?: unknown;
}

/** Reads a body up to a bound in bytes, and gives the rest up. Never throws. */
export async function readBodyText(body: FetchedResponse['body'], maxBytes: number): Promise<BodyText> {
  const chunks: Uint8Array[] = [];
  let left = maxBytes;
  const read = (): string => new TextDecoder().decode(Buffer.concat(chunks));
  const reader = body?.getReader();
  try {
    for (;;) {
      const value = (await reader?.read())?.value;
      if (value === undefined) return { text: read(), tooLong: false };
      chunks.push(value.subarray(0, left));
      left -= value.byteLength;
      if (left < 0) {
        if (reader) giveUp(reader);
        return { text: read(), tooLong: true };
      }
    }
  } catch (failure) {
    return { text: read(), tooLong: false, failure };
  }
}

/** Frees the connection, even if that fails. */
export function giveUp(reader: { cancel(): Promise<void> }): void {
  reader.cancel().catch(() => undefined);
}
