import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

interface StoredFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly contentType: string;
}

const extensions: Record<string, string> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'image/png': 'png',
  'video/mp4': 'mp4',
};
const mostBytesKept = 512 * 1024 * 1024;

/** The generated files, named by their content; the longest unused go when they pass 512 MiB together. */
export interface FileShelf {
  /** Keeps a file and returns its name. */
  add(bytes: Uint8Array, contentType: string): string;
  get(name: string): StoredFile | undefined;
  /** A URL that works as long as the file is kept. */
  url(name: string): string;
  /** A URL that works until a moment (milliseconds since 1970). */
  temporaryUrl(name: string, expiresAt: number): string;
  /** Whether the query of a file's URL still allows it; URLs without an expiry always do, unless one is due. */
  allows(name: string, query: URLSearchParams, now: number): boolean;
}

export function createFileShelf(secret: string, baseUrl: () => string, mostBytes = mostBytesKept): FileShelf {
  const files = new Map<string, StoredFile>();
  const temporary = new Set<string>();
  let bytesKept = 0;
  const sign = (name: string, expires: string): string =>
    createHmac('sha256', secret).update(`${name} ${expires}`).digest('hex').slice(0, 32);
  return {
    add(bytes, contentType) {
      const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
      const name = `${digest}.${extensions[contentType] ?? 'bin'}`;
      const known = files.get(name);
      files.delete(name);
      files.set(name, known ?? { name, bytes: Buffer.from(bytes), contentType });
      if (known === undefined) bytesKept += bytes.length;
      for (const [oldest, file] of files) {
        if (bytesKept <= mostBytes || oldest === name) break;
        files.delete(oldest);
        temporary.delete(oldest);
        bytesKept -= file.bytes.length;
      }
      return name;
    },
    get: (name) => files.get(name),
    url: (name) => `${baseUrl()}/files/${name}`,
    temporaryUrl(name, expiresAt) {
      temporary.add(name);
      const expires = String(Math.floor(expiresAt / 1000));
      return `${baseUrl()}/files/${name}?Expires=${expires}&Signature=${sign(name, expires)}`;
    },
    allows(name, query, now) {
      const expires = query.get('Expires');
      if (expires === null) return !temporary.has(name);
      const given = Buffer.from(query.get('Signature') ?? '');
      const wanted = Buffer.from(sign(name, expires));
      return given.length === wanted.length && timingSafeEqual(given, wanted) && now < Number(expires) * 1000;
    },
  };
}
