import { z } from 'zod';
import type { FileLink } from '../core/web/files.ts';
import { isSignedBy, sign } from '../core/web/signatures.ts';

/** The query of a signed link as it came from outside. */
const querySchema = z.object({ as: z.string(), expires: z.string(), signature: z.string() });

/**
 * Signed, expiring links to kept files: `files/{name}?as=…&expires=…&signature=…`. Signs with the first
 * secret and accepts all of them, so that a secret can be replaced while links made with the old one live on.
 */
export function createFileLinks(secrets: readonly string[], now: () => number) {
  const [current] = secrets;
  if (current === undefined || secrets.includes(''))
    throw new TypeError('File links need a non-empty secret');
  // JSON keeps the fields apart: no two lists of fields are written the same.
  const signedText = (...fields: readonly string[]) => JSON.stringify(['file', ...fields]);

  return {
    /** Relative to the root of the listener. */
    path({ name, expires, ...link }: FileLink): string {
      // A query cannot carry half a surrogate pair: what is signed must be what comes back.
      const downloadName = link.downloadName.toWellFormed();
      const signature = sign(signedText(name, downloadName, String(expires)), current);
      const query = new URLSearchParams({ as: downloadName, expires: String(expires), signature });
      return `files/${encodeURIComponent(name)}?${query}`;
    },
    /** The link, when it was signed here and has not expired. */
    verify(name: string, query: object): FileLink | undefined {
      const { data } = querySchema.safeParse(query);
      if (!data) return undefined;
      const { as, expires, signature } = data;
      if (!isSignedBy(signedText(name, as, expires), signature, secrets)) return undefined;
      const link = { name, downloadName: as, expires: Number(expires) };
      return link.expires * 1000 > now() ? link : undefined;
    },
  };
}
