/** What the listener shares with others: routes of chat platforms, signatures in URLs, and addresses of pages. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a chat platform answers itself at the listener: events that it sends, and pages that people open. */
export interface PlatformRoutes {
  readonly routes: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[];
  /** Reads the body itself, since signatures are made over its bytes. Throws what the listener answers with 500. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A chat that the listener shows in a browser on this machine. */
export interface BrowserChat {
  /** In the page's address: without it nothing is served. */
  readonly token: string;
  /** The most that a file may have. */
  readonly uploadBytes: number;
  /**
   * Sends what the person sees: first all of it, then each change, until the signal aborts or the chat closes. Resolves then;
   * at once where there is no such person.
   */
  watch(person: string, send: (event: object) => void, signal: AbortSignal): Promise<void>;
  /** Answers what the page asks; undefined for what cannot be read. */
  ask(request: unknown): Promise<object | undefined>;
  /** Holds a file until the bot has read it. */
  upload(name: string, contentType: string, bytes: Buffer): object;
  /** A file that is held; undefined where there is none of this id. */
  uploaded(id: string): { readonly contentType: string; readonly bytes: Buffer } | undefined;
}

/**
 * HMAC-SHA256 of `text` as base64url (43 characters). The text begins with what the signature is for, so that what was
 * signed for one use never proves another.
 */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Whether any of `secrets` made `signature`. Takes as long for a near miss as for nonsense. */
export function isSignedBy(text: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(signature);
  let matches = false;
  for (const secret of secrets) {
    // Texts are compared, not decoded bytes: base64url can spell the same bytes differently.
    const expected = Buffer.from(sign(text, secret));
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;
  }
  return matches;
}

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
