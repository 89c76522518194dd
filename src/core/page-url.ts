/** Signed addresses of pages. */
import { isSignedBy, sign } from './signatures.ts';

/** `songs`: the page of one song, by its job. `albums`: the songs of a channel, by what settings/albums.ts makes of it. */
export type PageKind = 'songs' | 'albums';

/** Where people open a page, such as `…/songs/{id}/{signature}`. `publicUrl` may carry a path, and has no slash at its end. */
export function pageUrl(publicUrl: string, kind: PageKind, id: string, secret: string): string {
  const signature = sign(pageText(kind, id), secret);
  return `${publicUrl}/${kind}/${encodeURIComponent(id)}/${signature}`;
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
