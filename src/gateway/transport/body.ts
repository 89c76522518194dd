/** The members of `Response` that the client uses. */
export type FetchedResponse = Pick<Response, 'status' | 'headers' | 'body'>;

interface BodyText {
  text: string;
  /** True if the body exceeds the limit. `text` is its beginning. */
  tooLong: boolean;
  /** Set if reading failed. `text` is the beginning of the body. */
  failure?: unknown;
}

/** Reads a body up to a limit in bytes and discards the rest. Never throws. */
export async function readBodyText(body: FetchedResponse['body'], maxBytes: number): Promise<BodyText> {
  const chunks: Uint8Array[] = [];
  let remaining = maxBytes;
  const read = (): string => new TextDecoder().decode(Buffer.concat(chunks));
  const reader = body?.getReader();
  try {
    for (;;) {
      const value = (await reader?.read())?.value;
      if (value === undefined) return { text: read(), tooLong: false };
      chunks.push(value.subarray(0, remaining));
      remaining -= value.byteLength;
      if (remaining < 0) {
        if (reader) cancelReader(reader);
        return { text: read(), tooLong: true };
      }
    }
  } catch (failure) {
    return { text: read(), tooLong: false, failure };
  }
}

/** Frees the connection and ignores errors. */
export function cancelReader(reader: { cancel(): Promise<void> }): void {
  reader.cancel().catch(() => undefined);
}
