/** Encrypts tokens for storage, so that a copy of the database or of Redis contains no usable token. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 bits, never reused: https://nvlpubs.nist.gov/nistpubs/Legacy/SP/nistspecialpublication800-38d.pdf */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** The first secret encrypts; all of them decrypt. `context` is authenticated, not secret, and must match to decrypt. */
export function createSeal(secrets: readonly string[]) {
  const keys = secrets.map((secret) => keyOf(secret, 'minstrel slack installation'));
  return {
    close(text: string, context: string): string {
      const [key] = keys;
      if (key === undefined) throw new RangeError('No secret to encrypt with');
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    /** Returns undefined if no secret decrypts it. */
    open(sealed: string, context: string): string | undefined {
      const [version, content = ''] = sealed.split('.');
      const bytes = Buffer.from(content, 'base64url');
      if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES));
          decipher.setAAD(Buffer.from(context));
          decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
          const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
          return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
        } catch {
          // Encrypted with another key.
        }
      }
      return undefined;
    },
  };
}

/** Derives a key for one purpose from a shared secret. */
export function keyOf(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
}
