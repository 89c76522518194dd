/** Signed addresses of pages. */
import { isSignedBy, sign } from './signatures.ts';

/** `songs`: the page of one song, by its job. `albums`: the songs of a channel, by what settings/albums.ts makes of it. */
export type PageKind = 'songs' | 'albums';

/** Where people open a page, relative to the root of the listener, such as `songs/{id}/{signature}`. */
export function pagePath(kind: PageKind, id: string, secret: string): string {
  return `${kind}/${encodeURIComponent(id)}/${sign(pageText(kind, id), secret)}`;
}

/** The same on the public listener. `publicUrl` may carry a path, and has no slash at its end. */
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
