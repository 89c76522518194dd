/** Attached files, held in memory until the bot has stored its own copy. */
import type { FileReference } from '../../../core/options.ts';
import { WEB_LIMITS } from '../limits.ts';

export interface Upload {
  readonly name: string;
  /** As reported by the browser. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

export type Uploads = ReturnType<typeof createUploads>;

/** `urlOf` returns the URL at which the bot reads a file. */
export function createUploads(urlOf: (id: string) => string, newId: () => string) {
  const uploads = new Map<string, Upload>();

  function dropOldest(): void {
    let bytes = uploads.values().reduce((sum, upload) => sum + upload.bytes.length, 0);
    for (const [id, upload] of uploads) {
      if (bytes <= WEB_LIMITS.heldBytes) return;
      uploads.delete(id);
      bytes -= upload.bytes.length;
    }
  }

  return {
    /** Returns the id by which requests name the file. */
    add(upload: Upload): string {
      const id = newId();
      uploads.set(id, upload);
      dropOldest();
      return id;
    },

    find: (id: string): Upload | undefined => uploads.get(id),

    /** The file as an option value; undefined if it is no longer in memory. */
    reference(id: string): FileReference | undefined {
      const upload = uploads.get(id);
      if (!upload) return undefined;
      const { name, contentType, bytes } = upload;
      const type = contentType || undefined;
      return { name, contentType: type, bytes: bytes.length, url: urlOf(id), attached: true };
    },
  };
}
