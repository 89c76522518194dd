import { Zip, ZipPassThrough } from 'fflate';

export interface ArchiveEntry {
  /** Unique in the archive. */
  readonly name: string;
  /** Called after the entries before this one have been read. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** A fixed time, so that equal files give equal archives and hashes. */
const MODIFIED_AT = '1980-01-01T00:00:00';

/**
 * Streams a ZIP archive entry by entry. Uncompressed, because audio and images are compressed already. Throws the errors of
 * opening and reading entries.
 */
export async function* zip(entries: readonly ArchiveEntry[]): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const failures: Error[] = [];
  const archive = new Zip((error, chunk) => {
    if (error) failures.push(error);
    else ready.push(chunk);
  });
  function* drain(): Generator<Uint8Array> {
    const [failure] = failures;
    if (failure) throw failure;
    yield* ready.splice(0);
  }
  for (const { name, open } of entries) {
    const file = new ZipPassThrough(name);
    file.mtime = MODIFIED_AT;
    archive.add(file);
    for await (const chunk of await open()) {
      file.push(chunk);
      yield* drain();
    }
    file.push(new Uint8Array(0), true);
    yield* drain();
  }
  archive.end();
  yield* drain();
}
