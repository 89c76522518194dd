/** Files that people attached, until the bot has read them. They are in memory: the bot keeps its own copy at once. */
import type { FileReference } from '../../../core/options.ts';
import { WEB_LIMITS } from '../limits.ts';

export interface Upload {
  readonly name: string;
  /** As the browser says. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

export type Uploads = ReturnType<typeof createUploads>;

/** `urlOf`: where the bot reads a file. */
export function createUploads(urlOf: (id: string) => string, newId: () => string) {
  const held = new Map<string, Upload>();

  function dropOldest(): void {
    let bytes = held.values().reduce((sum, upload) => sum + upload.bytes.length, 0);
    for (const [id, upload] of held) {
      if (bytes <= WEB_LIMITS.heldBytes) return;
      held.delete(id);
      bytes -= upload.bytes.length;
    }
  }

  return {
    /** Returns the id by which requests name the file. */
    add(upload: Upload): string {
      const id = newId();
      held.set(id, upload);
      dropOldest();
      return id;
    },

    find: (id: string): Upload | undefined => held.get(id),

    /** The file as an option takes it; undefined for one that is not here any more. */
    reference(id: string): FileReference | undefined {
      const upload = held.get(id);
      if (!upload) return undefined;
      const { name, contentType, bytes } = upload;
      const type = contentType || undefined;
      return { name, contentType: type, bytes: bytes.length, url: urlOf(id), attached: true };
    },
  };
}
