import { z } from 'zod';
import type { FetchedMedia, MediaFetcher } from './fetch.ts';
import type { MediaKind } from './kinds.ts';
import { createLinkSigner } from './links.ts';

/** A file that a person attached on a platform, as it can be fetched there. Serialisable. */
interface AttachmentSource {
  /** Where the platform keeps it. */
  url: string;
  kinds: readonly MediaKind[];
  /** Names the credentials that the platform wants, such as a workspace; never the credentials themselves. */
  credentials?: string | undefined;
  maximumBytes?: number | undefined;
}

interface AttachmentLinkOptions {
  /** The extension that the address ends in; some services look no further. */
  extension: string;
  ttlSeconds?: number;
}

/** The query of a link to an attachment as it came from outside. */
export interface AttachmentLinkQuery {
  source?: unknown;
  expires?: unknown;
  signature?: unknown;
}

/** Hands people's attachments to the gateway, which cannot fetch them from the platform itself. */
export interface Attachments {
  /** A signed, expiring address on the public listener that streams the attachment through. */
  link(source: AttachmentSource, options: AttachmentLinkOptions): string;
  /** What a link stands for, when it was signed here and has not expired. */
  verifyLink(query: AttachmentLinkQuery): AttachmentSource | undefined;
  /** Fetches with the platform's credentials, checked like all media. Throws MediaError. */
  open(source: AttachmentSource, signal?: AbortSignal): Promise<FetchedMedia>;
  close(): Promise<void>;
}

export interface AttachmentsOptions {
  fetcher: MediaFetcher;
  publicUrl: string;
  /** The first signs links, all verify them. */
  secrets: readonly string[];
  linkTtlSeconds: number;
  now: () => number;
  /**
   * Headers that open the address for the credentials so named. They go to the address's own origin only;
   * the function decides whether that origin is the platform's.
   */
  credentialHeaders: (credentials: string, url: string) => Promise<Readonly<Record<string, string>>>;
}

const sourceSchema = z.object({
  url: z.string(),
  kinds: z.array(z.enum(['audio', 'image', 'video', 'archive', 'text'])),
  credentials: z.string().optional(),
  maximumBytes: z.number().optional(),
}) satisfies z.ZodType<AttachmentSource>;

export function createAttachments(options: AttachmentsOptions): Attachments {
  const { fetcher, linkTtlSeconds, now, credentialHeaders } = options;
  const signer = createLinkSigner(options.secrets, 'attachment');
  const base = `${options.publicUrl.replace(/\/$/, '')}/files/in/`;

  return {
    link(source, { extension, ttlSeconds = linkTtlSeconds }) {
      const written = Buffer.from(JSON.stringify(source)).toString('base64url');
      const expires = String(Math.floor(now() / 1000) + ttlSeconds);
      const url = new URL(`${base}attachment.${encodeURIComponent(extension)}`);
      url.searchParams.set('source', written);
      url.searchParams.set('expires', expires);
      url.searchParams.set('signature', signer.sign([written, expires]));
      return url.href;
    },

    verifyLink({ source, expires, signature }) {
      if (typeof source !== 'string' || typeof expires !== 'string' || typeof signature !== 'string')
        return undefined;
      if (!signer.verify([source, expires], signature) || Number(expires) * 1000 <= now()) return undefined;
      return sourceSchema.parse(JSON.parse(Buffer.from(source, 'base64url').toString()));
    },

    async open({ url, kinds, credentials, maximumBytes }, signal) {
      const headers = credentials === undefined ? undefined : await credentialHeaders(credentials, url);
      return fetcher.fetch(url, { kinds, headers, maximumBytes, signal });
    },

    close: () => fetcher.close(),
  };
}
