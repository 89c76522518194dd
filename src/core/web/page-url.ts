/** Signed URLs of pages. */
import { isSignedBy, sign } from './signatures.ts';

/** `songs`: one song, by its job id. `albums`: the songs of a channel, by the id from settings/albums.ts. */
export type PageKind = 'songs' | 'albums';

/** The path of a page relative to the root of the listener, such as `songs/{id}/{signature}`. */
export function pagePath(kind: PageKind, id: string, secret: string): string {
  return `${kind}/${encodeURIComponent(id)}/${sign(pageText(kind, id), secret)}`;
}

/** The public URL of a page. `publicUrl` may include a path, without a trailing slash. */
export function pageUrl(publicUrl: string, ...page: Parameters<typeof pagePath>): string {
  return `${publicUrl}/${pagePath(...page)}`;
}

export function isPageSigned(
  kind: PageKind,
  id: string,
  signature: string,
  secrets: readonly string[],
): boolean {
  return isSignedBy(pageText(kind, id), signature, secrets);
}

function pageText(kind: PageKind, id: string): string {
  return `page\n${kind}\n${id}`;
}
