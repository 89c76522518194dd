/** Signatures in URLs. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * HMAC-SHA256 of `text` as base64url (43 characters). The text begins with what the signature is for, so that what was
 * signed for one use never proves another.
 */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Whether any of `secrets` made `signature`. */
export function isSignedBy(text: string, signature: string, secrets: readonly string[]): boolean {
  // Texts are compared, not decoded bytes: base64url can spell the same bytes differently.
  return secrets.map((secret) => isSameSecret(signature, sign(text, secret))).includes(true);
}

/** Takes as long for a near miss as for nonsense. */
export function isSameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
