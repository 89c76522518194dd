import { z } from 'zod';
import type { FileLink } from '../core/web/files.ts';
import { isSignedBy, sign } from '../core/web/signatures.ts';

/** The untrusted query of a signed link. */
const querySchema = z.object({ as: z.string(), expires: z.string(), signature: z.string() });

/**
 * Signed, expiring links to stored files: `files/{name}?as=…&expires=…&signature=…`. Signs with the first secret and accepts
 * all of them, so that links stay valid after a change of secret.
 */
export function createFileLinks(secrets: readonly string[], now: () => number) {
  const [current] = secrets;
  if (current === undefined || secrets.includes(''))
    throw new TypeError('File links need a non-empty secret');
  // JSON separates the fields unambiguously.
  const signedText = (...fields: readonly string[]) => JSON.stringify(['file', ...fields]);

  return {
    /** Relative to the root of the listener. */
    path({ name, expires, ...link }: FileLink): string {
      // A query cannot contain a lone surrogate, so the name is repaired before it is signed.
      const downloadName = link.downloadName.toWellFormed();
      const signature = sign(signedText(name, downloadName, String(expires)), current);
      const query = new URLSearchParams({ as: downloadName, expires: String(expires), signature });
      return `files/${encodeURIComponent(name)}?${query}`;
    },
    /** Returns the link if its signature is valid and it has not expired. */
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
