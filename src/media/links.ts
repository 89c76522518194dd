import { createHmac, timingSafeEqual } from 'node:crypto';

export interface LinkSigner {
  /** A signature in base64url over the fields, in this order. */
  sign(fields: readonly string[]): string;
  /** Whether any of the secrets made this signature over these fields. Takes the same time for every wrong one. */
  verify(fields: readonly string[], signature: string): boolean;
}

/**
 * Signs with the first secret and accepts all of them, so that a secret can be replaced while links made with
 * the old one live on. `purpose` keeps signatures of one use from serving another that shares the secret.
 */
export function createLinkSigner(secrets: readonly string[], purpose: string): LinkSigner {
  const [current] = secrets;
  if (current === undefined || secrets.includes(''))
    throw new TypeError('Links need a secret that is not empty');
  const digest = (secret: string, fields: readonly string[]) =>
    // JSON keeps the fields apart: no two lists of fields are written the same.
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, ...fields]))
      .digest();

  return {
    sign: (fields) => digest(current, fields).toString('base64url'),
    verify(fields, signature) {
      const claimed = Buffer.from(signature, 'base64url');
      return secrets
        .map((secret) => {
          const expected = digest(secret, fields);
          return claimed.length === expected.length && timingSafeEqual(claimed, expected);
        })
        .includes(true);
    },
  };
}

export interface FileLink {
  name: string;
  /** What the file is called where it is saved. */
  downloadName: string;
  /** Seconds since the epoch. */
  expires: number;
}

/** The query of a signed link as it came from outside. */
export interface FileLinkQuery {
  as?: unknown;
  expires?: unknown;
  signature?: unknown;
}

export interface FileLinks {
  url(link: FileLink): string;
  /** The link, when it was signed here and has not expired. */
  verify(name: string, query: FileLinkQuery): FileLink | undefined;
}

/** Signed, expiring links to kept files: `{publicUrl}/files/{name}?as=…&expires=…&signature=…`. */
export function createFileLinks(publicUrl: string, secrets: readonly string[], now: () => number): FileLinks {
  const signer = createLinkSigner(secrets, 'file');
  return {
    url({ name, expires, ...link }) {
      // A query cannot carry half a surrogate pair: what is signed must be what comes back.
      const downloadName = link.downloadName.toWellFormed();
      const url = new URL(`${publicUrl.replace(/\/$/, '')}/files/${encodeURIComponent(name)}`);
      url.searchParams.set('as', downloadName);
      url.searchParams.set('expires', String(expires));
      url.searchParams.set('signature', signer.sign([name, downloadName, String(expires)]));
      return url.href;
    },
    verify(name, { as, expires, signature }) {
      if (typeof as !== 'string' || typeof expires !== 'string' || typeof signature !== 'string')
        return undefined;
      if (!signer.verify([name, as, expires], signature)) return undefined;
      const link = { name, downloadName: as, expires: Number(expires) };
      return link.expires * 1000 > now() ? link : undefined;
    },
  };
}
