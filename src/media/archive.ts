import { Zip, ZipPassThrough } from 'fflate';

export interface ArchiveEntry {
  /** Its unique name in the archive. */
  readonly name: string;
  /** Called after the entries before this one have been read. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** Equal files make equal archives: what is stored under its hash must not change with the hour. */
const MADE_AT = '1980-01-01T00:00:00';

/**
 * A ZIP archive, entry after entry, never whole in memory. Stored without compression: sound and pictures hold none to
 * gain. Throws what opening or reading an entry throws.
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
    file.mtime = MADE_AT;
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
