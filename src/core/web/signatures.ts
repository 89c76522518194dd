/** Signatures in URLs. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 of `text` as base64url (43 characters). The text must start with its purpose, so that no signature has two uses. */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** True if `signature` was created with one of the `secrets`. */
export function isSignedBy(text: string, signature: string, secrets: readonly string[]): boolean {
  // Compares text, not decoded bytes, because several base64url texts decode to the same bytes.
  return secrets.map((secret) => isSameSecret(signature, sign(text, secret))).includes(true);
}

/** Compares in constant time. */
export function isSameSecret(actual: string, expected: string): boolean {
  const [left, right] = [Buffer.from(actual), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
