import { z } from 'zod';
import { present } from '../core/util/present.ts';
import type { FileLink } from '../core/web/files.ts';
import { isSignedBy, sign } from '../core/web/signatures.ts';

/** The untrusted query of a signed link. */
const querySchema = z.object({
  as: z.string(),
  expires: z.string(),
  page: z.string().optional(),
  signature: z.string(),
});

/**
 * Signed, expiring links to stored files: `files/{name}?as=…&expires=…&signature=…`, with `page=…` on song pages. Signs with the
 * first secret and accepts all of them, so that links stay valid after a change of secret.
 */
export function createFileLinks(secrets: readonly string[], now: () => number) {
  const [current] = secrets;
  if (current === undefined || secrets.includes(''))
    throw new TypeError('File links need a non-empty secret');
  // JSON separates the fields unambiguously.
  const signedText = (...fields: readonly string[]) => JSON.stringify(['file', ...fields]);
  const pageOf = ({ page }: Pick<FileLink, 'page'>) => (page === undefined ? [] : [page]);

  return {
    /** Relative to the root of the listener. */
    path({ name, expires, ...link }: FileLink): string {
      // A query cannot contain a lone surrogate, so the name is repaired before it is signed.
      const downloadName = link.downloadName.toWellFormed();
      const signature = sign(signedText(name, downloadName, String(expires), ...pageOf(link)), current);
      const query = new URLSearchParams({
        as: downloadName,
        expires: String(expires),
        ...present({ page: link.page }),
        signature,
      });
      return `files/${encodeURIComponent(name)}?${query}`;
    },
    /** Returns the link if its signature is valid and it has not expired. */
    verify(name: string, query: object): FileLink | undefined {
      const { data } = querySchema.safeParse(query);
      if (!data) return undefined;
      const { as, expires, page, signature } = data;
      if (!isSignedBy(signedText(name, as, expires, ...pageOf({ page })), signature, secrets))
        return undefined;
      const link = present({ name, downloadName: as, expires: Number(expires), page });
      return link.expires * 1000 > now() ? link : undefined;
    },
  };
}
